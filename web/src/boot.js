// A classic script of its own, ahead of everything else, as the policy allows no inline script.

// Before the first paint: puts the remembered theme on the document. lib/theme.ts does the rest.
try {
  var theme = localStorage.getItem('theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // No storage: the system's theme it is.
}

// A page's own files, by its path: fetched beside the frame's and not after them. The page takes
// them from the browser's cache (api/loading.ts), and fetches itself, and says, what failed here.
var files = FILES[location.pathname] || FILES[location.pathname.replace(/[^/]+$/, ':code')] || [];
files.forEach(function (file) {
  fetch(file).then(
    function (response) {
      return response.arrayBuffer();
    },
    function () {},
  );
});
