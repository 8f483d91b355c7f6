// Keys as feed readers have them. Each presses what the page has anyway; without this file nothing is missing.
'use strict';

const keysHelp = [['j / k', 'next, previous'], ['o, Enter', 'open here, close'], ['p', 'open its page'],
	['v', 'open where it was published'],
	['m', 'mark read or unread'], ['A', 'mark all read'], ['s', 'star or unstar'], ['b', 'save to your service'], ['r', 'refresh: poll what is listed'], ['/', 'search'],
	['g then h, f, e, n', 'home, feeds, entries, neighbors'], ['?', 'this help']];
const pagesByKey = {h: '/', f: '/feeds', e: '/entries', n: '/neighbors'};
let row = null, goes = false;

// Each browser can do without them: who speaks to it, or touches a key by chance, means none by a letter.
const keysKeptAs = 'feedex keys';
let heard = true;
try {
	heard = localStorage.getItem(keysKeptAs) !== 'off';
} catch {} // a browser that keeps nothing has them

// The row that had the focus last, or was clicked where that moves no focus, as in Safari, if it is still there.
for (const kind of ['focusin', 'click']) {
	addEventListener(kind, e => { row = e.target.closest?.('.list > li[id]')?.id ?? row; });
}
const chosen = () => row && document.getElementById(row);

const choose = by => {
	const rows = [...document.querySelectorAll('.list > li[id]')];
	const now = rows.indexOf(chosen());
	const next = rows[now < 0 ? 0 : Math.min(Math.max(now + by, 0), rows.length - 1)];
	if (!next) return;
	next.querySelector('h2 a').focus();
	next.scrollIntoView({block: 'nearest'});
};

// Presses the first of these that the page has.
const press = (within, ...selectors) => {
	for (const s of selectors) {
		const found = within?.querySelector(s);
		if (found) return found.click();
	}
};

const showHelp = () => {
	let help = document.getElementById('keys');
	if (!help) {
		help = document.createElement('dialog');
		help.id = 'keys';
		help.setAttribute('aria-label', 'Keys');
		const list = document.createElement('dl');
		list.className = 'facts';
		for (const [key, what] of keysHelp) {
			list.append(Object.assign(document.createElement('dt'), {textContent: key}),
				Object.assign(document.createElement('dd'), {textContent: what}));
		}
		const use = Object.assign(document.createElement('input'), {type: 'checkbox', checked: heard});
		use.addEventListener('change', () => {
			heard = use.checked;
			try {
				localStorage.setItem(keysKeptAs, heard ? 'on' : 'off');
			} catch {} // then it goes for this page
		});
		const label = Object.assign(document.createElement('label'), {className: 'check'});
		label.append(use, 'Use these keys in this browser');
		const close = Object.assign(document.createElement('button'), {textContent: 'Close', className: 'plain'});
		close.autofocus = true; // and not the checkbox, which Space would change
		close.addEventListener('click', () => help.close());
		help.append(list, label, close);
		document.getElementById('main').append(help);
	}
	help.showModal();
};

// The help can be found without a key.
{
	const button = Object.assign(document.createElement('button'),
		{type: 'button', className: 'link', textContent: 'Keyboard shortcuts'});
	button.addEventListener('click', showHelp);
	document.querySelector('body > footer .wrap').append(button);
}

document.addEventListener('keydown', e => {
	if (!heard || e.ctrlKey || e.metaKey || e.altKey || e.isComposing || document.querySelector('dialog[open]') ||
		e.target.closest('input, textarea, select, [contenteditable]')) return;
	const went = goes, article = document.querySelector('.article'), here = article ? document : chosen();
	goes = false;
	if (went) {
		press(document, `header a[href="${pagesByKey[e.key]}"]`); // who reads has fewer than the owner
		return;
	}
	switch (e.key) {
	case 'j': article ? press(document, 'a[rel=next]') : choose(1); break;
	case 'k': article ? press(document, 'a[rel=prev]') : choose(-1); break;
	case 'o': press(article ? null : here, 'h2 a'); break;
	case 'p':
		if (article || !here) return;
		location.href = here.querySelector('h2 a').href;
		break;
	case 'v':
		if (here?.dataset?.original) location.href = here.dataset.original;
		else press(here, 'a.original');
		break;
	case 'm': press(here, 'button[value=read]', 'button[value=unread]'); break;
	case 'A': press(document, 'form[action="/read"] button'); break; // which can be undone
	case 's': press(here, 'button[value=starred]', 'button[value=plain]'); break;
	case 'b': press(article && document, 'button[value=saved]'); break;
	case 'r': {
		const poll = document.querySelector('button[formaction="/refresh"]');
		poll?.form && navigator.onLine ? poll.click() : location.reload();
		break;
	}
	case 'g': goes = true; break;
	case '?': showHelp(); break;
	case '/': {
		const field = document.querySelector('input[type=search]');
		if (!field) return;
		field.closest('details')?.setAttribute('open', '');
		field.focus();
		break;
	}
	default: return;
	}
	e.preventDefault();
});
