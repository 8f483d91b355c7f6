// Keeps the pages of entries that were opened last, for where there is no connection. It sees /entries and what is
// below alone: pages with settings never pass here. What is kept has no forms, and no token: see bare.
'use strict';

const pagesKept = 'feedex-pages', filesKept = 'feedex-files', shell = '/offline';
const whose = 'Feedex-Reader'; // the header that says whose a page is
const maxPages = 60, maxFiles = 20, longestPage = 1 << 20;

// A page without what only this visit may send: forms, and the tokens with which links mark an entry read.
const bare = html => html.replace(/<form\b[^]*?<\/form>/g, '').replace(/<button\b[^>]*\bform=[^]*?<\/button>/g, '')
	.replace(/(\/entries\/[0-9a-f]+)\/open\?([^"]*?)(&amp;)?with=[0-9a-f]+/g, '$1?$2');

// Under which address a page is kept: that of an entry says also from which list it was opened.
const keyOf = address => {
	const url = new URL(address), entry = url.pathname.match(/^\/entries\/[0-9a-f]+/);
	return entry ? entry[0] : url.pathname + url.search;
};

const isEntry = address => /^\/entries\/[0-9a-f]+(\/open)?$/.test(new URL(address).pathname);

const bound = async (cache, most) => {
	const keys = await cache.keys(); // what was put last is last
	await Promise.all(keys.slice(0, Math.max(0, keys.length - most)).map(k => cache.delete(k)));
};

const keep = async (address, answer) => {
	const html = bare(await answer.text()), headers = new Headers(answer.headers);
	if (html.length > longestPage || html.includes('name="token"')) return;
	headers.delete('Content-Length');
	let cache = await caches.open(pagesKept);
	const [first] = await cache.keys();
	if (first && (await cache.match(first)).headers.get(whose) !== headers.get(whose)) {
		await caches.delete(pagesKept); // which are somebody else's
		cache = await caches.open(pagesKept);
	}
	await cache.put(keyOf(address), new Response(html, {headers}));
	await bound(cache, maxPages);
};

const keepFile = async address => {
	const cache = await caches.open(filesKept), known = await cache.match(address);
	if (known) return known;
	const answer = await fetch(address);
	if (answer.ok) {
		await cache.put(address, answer.clone());
		await bound(cache, maxFiles);
	}
	return answer;
};

// What there is without a connection: the page as it was, or the list of those that are kept.
const offline = async address => {
	const cache = await caches.open(pagesKept), page = await cache.match(keyOf(address));
	if (page) {
		const note = '<div class="notice" role="status"><p>There is no connection: this is what was here last. ' +
			'<a href="/entries?kept">What else is kept</a></p></div>';
		return new Response((await page.text()).replace(/<main\b[^>]*>/, main => main + note), {headers: page.headers});
	}
	const list = [];
	for (const request of (await cache.keys()).reverse()) {
		const html = await (await cache.match(request)).text(), title = html.match(/<title>([^<]*) · feedex<\/title>/);
		const url = new URL(request.url);
		list.push('<li><a href="' + url.pathname + url.search.replaceAll('&', '&amp;').replaceAll('"', '%22') +
			'" dir="auto">' + (title ? title[1] : 'Entries') + '</a></li>');
	}
	const kept = await (await caches.open(filesKept)).match(shell);
	if (!kept) return Response.error();
	return new Response((await kept.text()).replace('<ul id="kept"></ul>', () => '<ul>' + list.join('') + '</ul>'),
		{headers: kept.headers});
};

// A list shows an entry below its row: that one was opened, too.
const unfolded = async event => {
	const answer = await fetch(event.request);
	if (answer.ok && isEntry(answer.url)) event.waitUntil(keep(answer.url, answer.clone()));
	return answer;
};

addEventListener('install', event => event.waitUntil((async () => {
	const answer = await fetch(shell), html = bare(await answer.text()), headers = new Headers(answer.headers);
	if (!answer.ok) throw new Error('no shell');
	headers.delete('Content-Length');
	await caches.delete(filesKept);
	await Promise.all([...html.matchAll(/(?:href|src)="(\/assets\/[^"]+\.(?:css|js|svg))"/g)].map(m => keepFile(m[1])));
	await (await caches.open(filesKept)).put(shell, new Response(html, {headers}));
	await skipWaiting();
})()));

// The browser makes the request itself, so that the node sees who asks: see web/guard.go.
addEventListener('activate', event => event.waitUntil(registration.navigationPreload?.enable()));

addEventListener('fetch', event => {
	const {request} = event, url = new URL(request.url);
	if (url.origin !== location.origin || request.method !== 'GET') return;
	if (request.mode !== 'navigate') {
		if (url.pathname.startsWith('/assets/')) event.respondWith(keepFile(url.pathname));
		else if (isEntry(url.href)) event.respondWith(unfolded(event));
		return;
	}
	event.respondWith((async () => {
		let answer;
		try {
			answer = await event.preloadResponse || await fetch(request);
		} catch {
			return offline(request.url);
		}
		if (answer.ok && !answer.redirected) event.waitUntil(keep(request.url, answer.clone()));
		return answer;
	})());
});

// A message of the node, which it has sealed for this browser.
addEventListener('push', event => event.waitUntil((async () => {
	const message = event.data.json();
	await registration.showNotification(message.title, {
		body: message.text, tag: message.id, data: /^[0-9a-f]+$/.test(message.entry) ? '/entries/' + message.entry : '/entries',
	});
})()));

addEventListener('notificationclick', event => {
	event.notification.close();
	event.waitUntil(clients.openWindow(event.notification.data));
});
