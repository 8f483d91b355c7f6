// What a filter would have caught is shown while its words are typed: half a second after the last sign, and one
// question at a time.
{
	const form = document.querySelector('[data-try]');
	let due, asking;
	const ask = async () => {
		const words = form.elements.words.value.trim();
		if (!words) return;
		asking = new AbortController();
		const query = new URLSearchParams({words, rule: form.elements.rule.value});
		try {
			const answer = await fetch('/filters?' + query, {signal: asking.signal});
			const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
			const tried = page.querySelector('#tried');
			if (!answer.ok || !tried) return;
			const shown = document.querySelector('#tried'), field = form.elements.words;
			shown.replaceChildren(...tried.childNodes); // what is new in it is read out, and another node may not be
			const wrong = shown.querySelector('#wrong');
			field.ariaInvalid = wrong ? 'true' : null;
			wrong ? field.setAttribute('aria-describedby', 'wrong') : field.removeAttribute('aria-describedby');
		} catch { } // who went on typing, or a node that is gone: the button is there
	};
	form?.addEventListener('input', () => {
		clearTimeout(due);
		asking?.abort();
		due = setTimeout(ask, 500);
	});
}
