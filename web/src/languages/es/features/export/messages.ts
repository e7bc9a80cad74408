import type * as english from '../../../../features/export/messages';
import { formatNumber, plural } from '../../../../lib/format';
import { counted } from '../../lib/counted';

const links = (count: number) => counted(count, 'enlace', 'enlaces');

export const messages: typeof english.messages = {
  download: 'Descargar mis enlaces',
  downloadHint:
    'Un archivo con todos los enlaces de tu cuenta y todos sus campos, también los enlaces eliminados en los últimos 30 días. En el archivo CSV, los valores que una hoja de cálculo podría ejecutar como fórmula empiezan por un apóstrofo.',
  downloadAs: (format) => `Descargar mis enlaces como ${format}`,
  progress: 'Enlaces descargados',
  progressOf: (read, total) => `${formatNumber(read)} de ${links(total)}`,
  downloaded: (count) =>
    `${plural(count, 'Se ha descargado', 'Se han descargado')} ${links(count)}.`,
  failed: 'La descarga ha fallado. Vuelve a intentarlo.',
  everything: 'Descargar todo',
  everythingHint:
    'Un archivo ZIP con tus enlaces y sus destinos anteriores, y con lo que necesitas para servirlos por tu cuenta o para cambiar a otro acortador de URL: configuración para nginx y Apache, un archivo _redirects, páginas HTML y archivos CSV para Shlink, YOURLS y Dub.',
  writing: (done, total) => `${formatNumber(done)} de ${formatNumber(total)} archivos escritos`,
};

export const readme: typeof english.readme = (host, count, redirects) =>
  `Tus enlaces en ${host}
${'='.repeat(15 + host.length)}

Este archivo comprimido tiene todos los enlaces de tu cuenta: ${formatNumber(count)}, en cualquier estado. De
ellos, ${formatNumber(redirects)} URL cortas redirigen, contando las URL cortas propias de los códigos QR. Los
demás enlaces están eliminados, bloqueados o caducados sin otro destino; solo están en links.csv y
links.json.

Archivos
--------

links.csv, links.json
    Todos los campos de cada enlace y sus destinos anteriores. Importa uno de los dos en Atajo para
    volver a crear los mismos enlaces. En el archivo CSV, los valores que una hoja de cálculo podría
    ejecutar como fórmula empiezan por un apóstrofo; el importador lo quita.

nginx.conf
    Para nginx: responde a cada URL corta igual que este sitio. Ponlo en /etc/nginx/conf.d/, ajusta
    "listen" y tu certificado, y recarga nginx. Necesita unos 8 kB de memoria por enlace. Los códigos
    que solo se distinguen en mayúsculas y minúsculas son enlaces distintos.

apache.conf
    Lo mismo para Apache 2.4 o posterior: ponlo en /etc/apache2/sites-enabled/. Necesita el módulo
    rewrite ("a2enmod rewrite").

_redirects
    Para Netlify, Cloudflare Pages y otros: ponlo en la carpeta que publicas. Comprueba los límites de
    tu plan; algunos solo permiten unos miles de reglas.

html/
    Una página por cada enlace activo, que abre su destino. Funciona donde se sirvan archivos
    estáticos. Los discos de Windows y macOS no suelen distinguir mayúsculas de minúsculas, y allí los
    códigos que solo se diferencian en eso se sobrescriben: descomprime el archivo en Linux.

shlink.csv
    Enlaces activos para Shlink: "shlink short-url:import csv". Las barras sustituyen a | en las
    etiquetas.

yourls.csv
    Enlaces activos con las columnas de la tabla yourls_url de YOURLS, con horas en UTC. Para
    cargarlos en MySQL:
        LOAD DATA LOCAL INFILE 'yourls.csv' INTO TABLE yourls_url CHARACTER SET utf8mb4
        FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '"' ESCAPED BY ''
        LINES TERMINATED BY '\\r\\n' IGNORE 1 LINES;
    YOURLS debe aceptar letras mayúsculas (YOURLS_URL_CONVERT 62); los códigos con - o _ necesitan una
    extensión.

dub.csv
    Enlaces activos para la importación CSV de Dub. Las comas de las etiquetas se sustituyen por
    espacios.

SHA256SUMS
    Sumas de verificación de todos los archivos: "sha256sum --check SHA256SUMS".

Lo que estos archivos no hacen
------------------------------

Tienen el estado de los enlaces del momento en que se escribieron. Un enlace que caduque más tarde
sigue redirigiendo, y las visitas no se cuentan. Las URL cortas solo siguen funcionando si ${host} lleva a tu servidor.
`;

export const nginxComment: typeof english.nginxComment = [
  'URL cortas para nginx. Incluye este archivo en el bloque http, por ejemplo desde',
  '/etc/nginx/conf.d/. Los códigos distinguen mayúsculas de minúsculas.',
];
export const apacheComment: typeof english.apacheComment = [
  'URL cortas para Apache 2.4 o posterior, con el módulo rewrite.',
  'Incluye este archivo fuera de otros hosts virtuales. Los códigos distinguen mayúsculas de',
  'minúsculas.',
];
