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
var isKnown = false;
try {
  isKnown = ['userToken', 'guestLinks', 'pendingLink'].some(function (key) {
    return localStorage.getItem(key) !== null;
  });
  if (isKnown) document.documentElement.dataset.personal = '';
} catch {
  // Without storage, every visitor is new.
}

// The document of a public page leaves its entry to this script: on a slow network, it would delay
// the style sheets and fonts of the text that the document shows.
var entry = document.currentScript.dataset.entry;
if (entry && !isKnown) {
  new PerformanceObserver(function (list, observer) {
    if (list.getEntriesByName('first-contentful-paint').length === 0) return;
    observer.disconnect();
    load();
  }).observe({ type: 'paint', buffered: true });
} else {
  load();
}

// Keep what is pressed or chosen until the scripts can do it (lib/early.ts). Enter in a field presses
// a button, too. Without this, the browser would submit the form and load the page again.
if (entry) {
  window.early = [];
  ['click', 'change'].forEach(function (type) {
    addEventListener(type, keep, true);
  });
}

function keep(event) {
  if (!window.early) return;
  var isClick = event.type === 'click';
  var element = event.target.closest(isClick ? 'button, summary, [type=checkbox]' : 'select');
  if (!element) return;
  if (isClick) event.preventDefault();
  // The page may handle events already, a moment before it repeats these.
  event.stopPropagation();
  window.early.push([element, element.value]);
}

// Run the entry, and fetch the files of the page in parallel. FILES contains them by path. The page
// imports them from the browser's cache (api/loading.ts). It repeats and reports fetches that fail
// here.
function load() {
  if (entry) {
    var script = document.createElement('script');
    script.type = 'module';
    script.crossOrigin = '';
    script.src = entry;
    // A form that is sent now loads the page again, and so the script.
    script.onerror = function () {
      window.early = undefined;
    };
    document.head.append(script);
  }
  var files = FILES[location.pathname] || FILES[location.pathname.replace(/[^/]+$/, ':code')] || [];
  files.forEach(function (file) {
    fetch(file).then(
      function (response) {
        return response.arrayBuffer();
      },
      function () {},
    );
  });
}
