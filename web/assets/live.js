// Keeps a page up to date. Without it, everything works by loading pages.
'use strict';

// What is marked data-live is replaced by what the page has now, when the node says that something changed.
const live = document.querySelector('[data-live]');
if (live) {
	let due = 0;
	const renew = async () => {
		due = 0;
		if (document.hidden || live.contains(document.activeElement) && document.activeElement !== document.body) return;
		const answer = await fetch(location.href, {headers: {Accept: 'text/html'}});
		if (!answer.ok) return;
		const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
		const fresh = page.querySelector('[data-live]');
		if (!fresh) return;
		const open = [...live.querySelectorAll('details')].map(d => d.open);
		live.replaceChildren(...fresh.childNodes);
		live.querySelectorAll('details').forEach((d, i) => { d.open = open[i]; });
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
