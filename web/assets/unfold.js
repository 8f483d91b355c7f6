// Opens an entry below its row, and marks entries where they stand. Without this file the link of a row opens the page
// of its entry, and a mark loads the list again.
'use strict';

const rowOf = element => element.closest('.rows > li[id]');
const linkOf = row => row.querySelector(':scope > h2 a');

// What a mark did is read out, as its place in the row may be far from the focus.
const said = Object.assign(document.createElement('p'), {className: 'hidden'});
said.setAttribute('role', 'status');
document.getElementById('main').append(said);
const marks = {read: 'Marked read', unread: 'Marked unread', starred: 'Starred', plain: 'Unstarred'};

// Says in a row how its entry is marked.
const showMarks = (row, read, starred) => {
	row.classList.toggle('new', !read);
	row.classList.toggle('read', read);
	row.querySelector('h2 > .hidden')?.remove();
	if (!read) {
		row.querySelector('h2').prepend(Object.assign(document.createElement('span'),
			{className: 'hidden', textContent: 'Unread: '}));
	}
	const [reads, stars] = row.querySelectorAll('form.marks button');
	if (!stars) return;
	[reads.value, reads.textContent] = read ? ['unread', 'Mark unread'] : ['read', 'Mark read'];
	[stars.value, stars.textContent] = starred ? ['plain', '★ Unstar'] : ['starred', '☆ Star'];
	stars.classList.toggle('starred', starred);
};

const fold = row => {
	const article = row.querySelector('.unfolded'), focused = article?.contains(document.activeElement);
	article?.remove();
	if (focused) linkOf(row).focus(); // and not the top of the page
	linkOf(row).setAttribute('aria-expanded', 'false');
	linkOf(row).removeAttribute('aria-controls');
};

// What an entry's page shows of it, as far as that has a place below a row.
const below = (row, article, page) => {
	const starred = article.querySelector('form.marks button[value=plain]');
	const mark = article.querySelector('form.marks button[value=read], form.marks button[value=unread]');
	if (mark) showMarks(row, mark.value === 'unread', !!starred);
	// Sound and video come from elsewhere, which the page of the entry alone permits.
	const plays = article.querySelectorAll('.player, .prose :is(audio, video)');
	article.querySelectorAll('header > :is(h1, form.marks, p.small), header [data-share]').forEach(e => e.remove());
	plays.forEach(e => e.remove());
	// What is done here leads back here, but for saving, of which the page of the entry says what came of it.
	article.querySelectorAll('form:not([action="/save"]) input[name=next]').forEach(i => {
		i.value = location.pathname + location.search + '#' + row.id;
	});
	article.querySelector('.meta').append(Object.assign(document.createElement('a'),
		{href: page, textContent: plays.length ? 'Play it on its page' : 'Its page'}));
	article.removeAttribute('data-entry');
	article.className = 'unfolded';
	article.id = 'unfolded-' + row.id;
	article.setAttribute('aria-label', linkOf(row).textContent);
	return article;
};

// Asks for the page of the entry, which marks it read as opening it does, and puts it below the row.
const unfold = async (row, address) => {
	if (row.ariaBusy === 'true') return;
	row.ariaBusy = 'true';
	try {
		const answer = await fetch(address, {headers: {Accept: 'text/html'}});
		const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
		const article = answer.ok && page.querySelector('.article[data-entry]');
		if (!article) throw new Error('no entry');
		document.querySelectorAll('.rows > li:has(.unfolded)').forEach(fold);
		row.append(below(row, document.adoptNode(article), new URL(answer.url).pathname + new URL(answer.url).search));
		linkOf(row).setAttribute('aria-expanded', 'true');
		linkOf(row).setAttribute('aria-controls', article.id);
		row.querySelector('h2').scrollIntoView({block: 'nearest'});
	} catch {
		location.href = address; // which says what is wrong
	} finally {
		row.ariaBusy = null;
	}
};

for (const link of document.querySelectorAll('.rows > li[id] > h2 a')) link.setAttribute('aria-expanded', 'false');

addEventListener('click', e => {
	const link = e.target.closest?.('a'), row = link && rowOf(link);
	if (!row || e.button || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey || e.defaultPrevented) return;
	if (link === linkOf(row)) {
		e.preventDefault();
		link.focus({preventScroll: true}); // which a click does not do everywhere
		row.querySelector('.unfolded') ? fold(row) : unfold(row, link.href);
	} else if (link.closest('.unfolded .notice') && new URL(link.href).searchParams.has('images')) {
		e.preventDefault();
		unfold(row, link.href);
	}
});

addEventListener('submit', e => {
	const row = rowOf(e.target), as = e.submitter?.value;
	if (!row || !e.target.matches('form.marks') || !as) return;
	e.preventDefault();
	const form = new URLSearchParams(new FormData(e.target));
	form.set(e.submitter.name, as);
	// The answer leads to the list, which is here already.
	fetch(e.target.action, {method: 'POST', redirect: 'manual', body: form}).then(answer => {
		if (answer.type !== 'opaqueredirect') throw new Error('not marked');
		const read = !row.querySelector('button[value=read]'), starred = !row.querySelector('button[value=starred]');
		showMarks(row, as === 'read' || read && as !== 'unread', as === 'starred' || starred && as !== 'plain');
		said.textContent = marks[as] + ': ' + linkOf(row).textContent;
	}).catch(() => location.reload()); // which says what is wrong
});
