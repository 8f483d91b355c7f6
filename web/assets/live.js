// Keeps a page up to date. Without it, everything works by loading pages.
'use strict';

// What is marked data-live is renewed when the node says that something changed. Where anything would come, go or move,
// the page stays as it is under the eye: a line over it says so, and loads it. Of data-live="ask" only what is new is
// told, and how much is unread.
const live = document.querySelector('[data-live]');
if (live) {
	let due = 0;
	const rows = part => [...part.querySelectorAll('h2, .notice, li[id], th[scope=row]')].map(row =>
		row.id || row.querySelector('a')?.getAttribute('href') || row.firstChild.textContent).join('\n');
	// Sorted by publication, some come below others that were there; what moved up from the next page is not new.
	const came = fresh => {
		const known = new Set([...live.querySelectorAll('li[id]')].map(li => li.id));
		const list = [...fresh.querySelectorAll('li[id]')].map(li => li.id);
		const last = list.findLastIndex(id => known.has(id));
		return list.slice(0, last < 0 ? list.length : last).filter(id => !known.has(id)).length;
	};
	// How far down everything is that is read by itself.
	const places = () => [...live.querySelectorAll('h1, h2, th, dt, li')].map(e =>
		Math.round(e.getBoundingClientRect().top + scrollY)).join();
	const recount = page => ['.tabs a', '.rail nav a'].forEach(links => {
		const now = new Map([...page.querySelectorAll(links)].map(a => [a.getAttribute('href'), a]));
		for (const a of document.querySelectorAll(links)) {
			const other = now.get(a.getAttribute('href'));
			if (!other) a.querySelector('.num')?.remove(); // a feed of which all is read
			else if (other.textContent !== a.textContent) a.replaceChildren(...other.childNodes);
		}
	});
	// The place of what is read out is there before: a screen reader reads out what changes, and seldom what comes as a
	// whole. How many are new is not read out, as it may change every second.
	const line = Object.assign(document.createElement('p'), {className: 'came'}), link = document.createElement('a');
	const spoken = Object.assign(document.createElement('output'), {className: 'hidden'});
	link.href = location.pathname + location.search;
	document.getElementById('main').prepend(line, spoken);
	const tell = (text, says = text) => {
		if (spoken.textContent !== says) spoken.textContent = says;
		if (text === line.textContent) return;
		link.textContent = text;
		if (!text) link.remove();
		else if (!link.isConnected) line.append(link);
	};
	const renew = async () => {
		due = 0;
		const asks = live.dataset.live === 'ask';
		// What the owner is in the middle of is not replaced. A line over it takes nothing away.
		if (document.hidden || !asks && live.contains(document.activeElement)) return;
		const answer = await fetch(location.href, {headers: {Accept: 'text/html'}});
		if (!answer.ok) return;
		if (answer.headers.get('Feedex-Reader') !== document.body.dataset.reader) return location.reload();
		const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
		const fresh = page.querySelector('[data-live]');
		if (!fresh) return;
		if (asks) recount(page);
		const count = came(fresh);
		if (count) return tell(count + ' new', 'Something is new');
		if (!asks && rows(fresh) !== rows(live)) return tell('Show what changed');
		tell('');
		if (asks) return;
		const open = [...live.querySelectorAll('details')].map(d => d.open), was = [...live.childNodes], at = places();
		live.replaceChildren(...fresh.childNodes);
		live.querySelectorAll('details').forEach((d, i) => { d.open = open[i]; });
		if (places() === at) return;
		live.replaceChildren(...was); // before anybody saw it
		tell('Show what changed');
	};
	// A browser has few connections to one server: pages that nobody sees let go of theirs.
	let stream;
	const listen = () => {
		stream?.close();
		if (document.hidden) return;
		stream = new EventSource('/live');
		stream.addEventListener('changed', () => { due ||= setTimeout(renew, 1000); });
	};
	document.addEventListener('visibilitychange', () => { listen(); renew(); });
	listen();
}

// Results of other nodes are added as they come. They are made by the server, and safe to show.
const network = document.querySelector('[data-network]');
if (network) {
	const list = network.querySelector('ol'), said = network.querySelector('[role=status]');
	const stream = new EventSource(network.dataset.network);
	stream.addEventListener('found', e => list.insertAdjacentHTML('beforeend', e.data));
	stream.addEventListener('said', e => { said.textContent = e.data; });
	stream.addEventListener('end', e => {
		stream.close();
		said.textContent = e.data;
		said.classList.remove('working');
	});
	stream.onerror = () => {
		stream.close();
		said.textContent = 'The connection to the node was lost.';
		said.classList.remove('working');
	};
}

// The browser puts pages aside for who goes back to them, which may be somebody else by then.
addEventListener('pageshow', async e => {
	if (!e.persisted && performance.getEntriesByType('navigation')[0]?.type !== 'back_forward') return;
	document.body.style.visibility = 'hidden';
	const answer = await fetch('/offline', {method: 'HEAD'}).catch(() => null);
	if (answer?.headers.get('Feedex-Reader') !== document.body.dataset.reader) return location.reload();
	document.body.style.visibility = '';
});

// Entries that were opened can be read without a connection, until somebody is asked to log in.
if (location.pathname === '/login') window.caches?.delete('feedex-pages');
navigator.serviceWorker?.register('/worker.js', {scope: '/entries'}).catch(() => {});

// Times are said in the zone of the browser, from the next page on.
document.cookie = 'feedex_zone=' + Intl.DateTimeFormat().resolvedOptions().timeZone +
	'; path=/; max-age=31536000; SameSite=Lax' + (location.protocol === 'https:' ? '; Secure' : '');

// Where the system can share, entries have a button for that.
const share = document.querySelector('[data-share]');
if (share && navigator.share) {
	share.hidden = false;
	share.addEventListener('click', () =>
		navigator.share({title: share.dataset.title, url: share.dataset.share}).catch(() => {})); // who changed their mind
}
