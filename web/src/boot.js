// A classic script that runs before everything else. It is a file because the content security
// policy allows no inline script.

// Apply the saved theme before the first paint. lib/theme.ts handles the rest.
try {
  var theme = localStorage.getItem('theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Without storage, the theme of the system applies.
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
