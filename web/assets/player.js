// Has sound and video go on where they were left, in this browser. Without it they play from the beginning.
'use strict';

const mostKept = 200, skips = [['−15\u202fs', -15], ['+30\u202fs', 30]], rates = [1, 1.25, 1.5, 1.75, 2, .75];
const keptAs = 'feedex played';

// What was played: for each thing where one is in it, in seconds, and when that was.
const played = () => {
	try {
		return JSON.parse(localStorage.getItem(keptAs)) || {};
	} catch {
		return {};
	}
};
const keep = (key, at) => {
	const all = played();
	delete all[key];
	if (at > 0) all[key] = {at, on: Date.now()};
	const latest = Object.entries(all).sort(([, a], [, b]) => b.on - a.on).slice(0, mostKept);
	try {
		localStorage.setItem(keptAs, JSON.stringify(Object.fromEntries(latest)));
	} catch {} // a browser that keeps nothing plays all the same
};
const clock = s => {
	const two = n => String(Math.floor(n)).padStart(2, '0');
	return (s >= 3600 ? Math.floor(s / 3600) + ':' + two(s % 3600 / 60) : Math.floor(s / 60)) + ':' + two(s % 60);
};

let chaptersOf = null;
const entry = document.querySelector('[data-entry]')?.dataset.entry;
for (const media of document.querySelectorAll('[data-entry] :is(audio, video)')) {
	const source = media.getAttribute('src') || media.querySelector('source')?.getAttribute('src');
	const key = entry + ' ' + source;
	let saved = 0, begun = false;
	const save = () => {
		if (!begun || !media.duration) return;
		saved = media.currentTime;
		keep(key, media.ended || media.duration - saved < 10 ? 0 : saved);
	};
	const bar = document.createElement('div');
	bar.className = 'row small';
	const note = Object.assign(document.createElement('span'), {className: 'soft'});
	let before = Number(played()[key]?.at);
	if (before > 0) note.textContent = 'Goes on at ' + clock(before);
	media.addEventListener('loadedmetadata', () => {
		if (before > 0 && before < media.duration) media.currentTime = before;
		begun = true;
		note.textContent = media.duration < Infinity ? clock(media.duration) + ' long' : '';
		bar.hidden = false;
	}, {once: true});
	media.addEventListener('error', () => note.textContent = 'It cannot be played here.', true);
	media.addEventListener('timeupdate', () => { if (Math.abs(media.currentTime - saved) >= 5) save(); });
	for (const when of ['pause', 'seeked', 'ended']) media.addEventListener(when, save);
	addEventListener('pagehide', save);

	// Chapters are those of the first that plays.
	if (!chaptersOf) for (const link of document.querySelectorAll('[data-at]')) {
		link.addEventListener('click', e => {
			if (e.button || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return;
			e.preventDefault();
			before = Number(link.dataset.at);
			if (begun) media.currentTime = before;
			media.play().catch(() => {}); // the player says what is wrong
		});
	}
	chaptersOf = media;

	for (const [name, by] of skips) {
		const button = Object.assign(document.createElement('button'), {textContent: name, className: 'plain small'});
		button.addEventListener('click', () => media.currentTime += by);
		bar.append(button);
	}
	const rate = Object.assign(document.createElement('button'), {className: 'plain small'});
	const goAt = speed => {
		media.playbackRate = speed;
		rate.textContent = speed + '×';
		rate.setAttribute('aria-label', 'Speed ' + rate.textContent); // which says what is seen
	};
	goAt(rates[0]);
	rate.addEventListener('click', () => goAt(rates[(rates.indexOf(media.playbackRate) + 1) % rates.length]));
	bar.append(rate);
	bar.hidden = true;
	media.after(note, bar);
}
