// A classic script that runs before everything else. It is a file because the content security
// policy allows no inline script.

// Apply the saved theme before the first paint. lib/theme.ts handles the rest.
try {
  var theme = localStorage.getItem('theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Without storage, the theme of the system applies.
}

// Open the document in the chosen language. The server knows only the language that the browser asks
// for, and `lang` of the query, which is removed once it has served.
try {
  var language = localStorage.getItem('language');
  var url = new URL(location.href);
  var asked = url.searchParams.get('lang');
  if (language && language !== document.documentElement.lang && language !== asked) {
    url.searchParams.set('lang', language);
    document.documentElement.hidden = true;
    location.replace(url.href);
  } else if (language && asked) {
    url.searchParams.delete('lang');
    history.replaceState(history.state, '', url.href);
  }
} catch {
  // Without storage, the language that the browser asks for applies.
}

// The document of a public page shows what a new visitor sees. For others, styles/base.css hides it
// until the scripts render it (main.tsx), so that nothing moves.
try {
  var isKnown = ['userToken', 'guestLinks', 'pendingLink'].some(function (key) {
    return localStorage.getItem(key) !== null;
  });
  if (isKnown) document.documentElement.dataset.personal = '';
} catch {
  // Without storage, every visitor is new.
}

// Fetch the files of the page in parallel with those of the frame. FILES contains them by path. The
// page imports them from the browser's cache (api/loading.ts). It repeats and reports fetches that
// fail here.
var files = FILES[location.pathname] || FILES[location.pathname.replace(/[^/]+$/, ':code')] || [];
files.forEach(function (file) {
  fetch(file).then(
    function (response) {
      return response.arrayBuffer();
    },
    function () {},
  );
});
