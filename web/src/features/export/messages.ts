/** Texts of the downloads on the settings page, and of the README of 'Download everything'. */
import { counted } from '../../lib/counted';
import { formatNumber } from '../../lib/format';

const links = (count: number) => counted(count, 'link', 'links');

export const messages = {
  download: 'Download my links',
  downloadHint:
    'A file with every link of your account and all its fields, including links removed in the last 30 days. In the CSV file, values that a spreadsheet could run as a formula start with an apostrophe.',
  downloadAs: (format: string) => `Download my links as ${format}`,
  progress: 'Links downloaded',
  progressOf: (read: number, total: number) =>
    `${formatNumber(read)} of ${formatNumber(total)} links`,
  downloaded: (count: number) => `${links(count)} downloaded.`,
  failed: 'The download failed. Please try again.',
  everything: 'Download everything',
  everythingHint:
    'A ZIP file with your links and their earlier destinations, and with what you need to serve them yourself or to move to another URL shortener: configuration for nginx and Apache, a _redirects file, HTML pages, and CSV files for Shlink, YOURLS and Dub.',
  writing: (done: number, total: number) =>
    `${formatNumber(done)} of ${formatNumber(total)} files written`,
};

/** Returns README.txt, in lines that fit a terminal. */
export function readme(host: string, count: number, redirects: number): string {
  return `Your links at ${host}
${'='.repeat(14 + host.length)}

This archive has all links of your account: ${formatNumber(count)}, in every state. Of these,
${formatNumber(redirects)} short URLs redirect, including the separate short URLs of QR codes. The other
links are removed, blocked, or expired without another destination; only links.csv and links.json have
them.

Files
-----

links.csv, links.json
    Every field of every link, and its earlier destinations. Import one of them into Atajo to create
    the same links again. In the CSV file, values that a spreadsheet could run as a formula start
    with an apostrophe; the importer removes it.

nginx.conf
    For nginx: answers every short URL as this site does. Put it into /etc/nginx/conf.d/, set "listen"
    and your certificate, and reload nginx. It needs about 8 kB of memory per link. Codes that differ
    only in case are different links.

apache.conf
    The same for Apache 2.4 or later: put it into /etc/apache2/sites-enabled/. It needs the module
    rewrite ("a2enmod rewrite").

_redirects
    For Netlify, Cloudflare Pages and others: put it into the folder that you publish. Check the limits
    of your plan; some allow only a few thousand rules.

html/
    A page for every active link, which opens its destination. It works wherever static files are
    served. Disks of Windows and macOS usually ignore case: codes that differ only in case overwrite
    each other there, so unpack the archive on Linux.

shlink.csv
    Active links for Shlink: "shlink short-url:import csv". Slashes replace | in tags.

yourls.csv
    Active links as the columns of YOURLS' table yourls_url, with times in UTC. To load them into MySQL:
        LOAD DATA LOCAL INFILE 'yourls.csv' INTO TABLE yourls_url CHARACTER SET utf8mb4
        FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '"' ESCAPED BY ''
        LINES TERMINATED BY '\\r\\n' IGNORE 1 LINES;
    YOURLS must accept upper-case letters (YOURLS_URL_CONVERT 62); codes with - or _ need a plugin.

dub.csv
    Active links for Dub's CSV import. Commas in tags are replaced by spaces.

SHA256SUMS
    Checksums of all files: "sha256sum --check SHA256SUMS".

What these files do not do
--------------------------

They have the state of the links when they were written. A link that expires later keeps redirecting,
and visits are not counted. Short URLs keep working only if ${host} leads to your server.
`;
}

/** Comments at the beginning of the configurations. */
export const nginxComment = [
  'Short URLs for nginx. Include this file in the http block, for example from',
  '/etc/nginx/conf.d/. Codes are case-sensitive.',
];
export const apacheComment = [
  'Short URLs for Apache 2.4 or later, with the module rewrite.',
  'Include this file outside of other virtual hosts. Codes are case-sensitive.',
];
