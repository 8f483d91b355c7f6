// Asks the browser for a subscription to the node's messages, and sends it as the form would be sent by hand.
'use strict';

addEventListener('DOMContentLoaded', () => {
	const box = document.getElementById('push');
	if (!box || !navigator.serviceWorker || !window.PushManager) return;
	const form = box.querySelector('form'), note = box.querySelector('[role=status]');
	box.hidden = false;
	form.addEventListener('submit', async event => {
		event.preventDefault();
		try {
			const worker = await navigator.serviceWorker.register('/worker.js', {scope: '/entries'});
			await new Promise(ready => { // this page is outside of its scope, so that nothing else says when it is there
				const coming = worker.installing || worker.waiting;
				if (worker.active || !coming) return ready();
				coming.addEventListener('statechange', () => coming.state === 'activated' && ready());
			});
			if (await Notification.requestPermission() !== 'granted') {
				note.textContent = 'The browser does not let this page tell you anything. Its settings for this site say so.';
				return;
			}
			const subscription = await worker.pushManager.subscribe(
				{userVisibleOnly: true, applicationServerKey: form.dataset.key});
			form.elements.address.value = JSON.stringify(subscription);
			form.submit();
		} catch (problem) {
			note.textContent = 'The browser cannot be told: ' + problem.message;
		}
	});
});
