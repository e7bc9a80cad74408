/** Reads tables with unknown columns: guesses their fields, unless the user has chosen them. */
import { normalizeHeader } from '../headers';
import type { Columns } from '../parsed';
import type { Found } from '../rows';
import { pathOf } from '../shortUrls';
import { listOf, textOf } from './fields';

type Field = Exclude<keyof Columns, 'header'>;

/** Normalized headers of each field in English and Spanish, the more specific ones first. */
const NAMES: Record<Field, readonly string[]> = {
  code: [
    'code',
    'shortcode',
    'slug',
    'alias',
    'customalias',
    'keyword',
    'backhalf',
    'slashtag',
    'ending',
    'key',
    'path',
    'shortpath',
    'shortid',
    'shorturl',
    'shortlink',
    'shortenedurl',
    'tinyurl',
    'short',
    'source',
    'from',
    'codigo',
    'clave',
    'enlacecorto',
    'urlcorta',
  ],
  destination: [
    'destination',
    'destinationurl',
    'longurl',
    'longlink',
    'originalurl',
    'originallink',
    'targeturl',
    'target',
    'redirecturl',
    'fullurl',
    'url',
    'link',
    'href',
    'address',
    'website',
    'original',
    'to',
    'destino',
    'urldestino',
    'urldedestino',
    'enlacelargo',
    'urllarga',
    'enlaceoriginal',
    'urloriginal',
    'enlace',
    'direccion',
  ],
  title: [
    'title',
    'name',
    'description',
    'label',
    'note',
    'notes',
    'comment',
    'titulo',
    'nombre',
    'descripcion',
    'nota',
    'notas',
    'comentario',
  ],
  tags: [
    'tags',
    'tag',
    'labels',
    'categories',
    'category',
    'folder',
    'group',
    'etiquetas',
    'etiqueta',
    'categorias',
    'categoria',
    'carpeta',
    'grupo',
  ],
  created_at: [
    'createdat',
    'created',
    'datecreated',
    'creationdate',
    'createdon',
    'dateadded',
    'timeadded',
    'timestamp',
    'date',
    'fechadecreacion',
    'fechacreacion',
    'creadoel',
    'creado',
    'creacion',
    'fecha',
  ],
  expires_at: [
    'expiresat',
    'expires',
    'expiry',
    'expirydate',
    'expiration',
    'expirationdate',
    'fechadecaducidad',
    'caducidad',
    'caduca',
    'fechadevencimiento',
    'vencimiento',
    'vence',
    'expira',
  ],
};
const FIELDS = Object.keys(NAMES) as Field[];
export const WEB_URL = /^https?:\/\/\S/i;
/** The path of a URL that may be short. Pictures, for example, have a file extension or a query. */
const SHORT_PATH = /^[^.:=&%]+$/;

/** Whether one of these normalized headers names a destination. */
export function looksLikeColumns(headers: readonly string[]): boolean {
  return headers.some((header) => NAMES.destination.includes(header));
}

/** Guesses the columns by their headers, the destination and the ending also by their contents. */
export function guessColumns(records: readonly string[][]): Columns {
  const [first = [], ...rest] = records;
  const headers = first.map(normalizeHeader);
  const header = !first.some((cell) => WEB_URL.test(cell.trim())) && isHeader(headers, rest);
  const sample = header ? rest : records;
  const named = (field: Field) => {
    const name = header ? NAMES[field].find((option) => headers.includes(option)) : undefined;
    return name === undefined ? null : headers.indexOf(name);
  };
  const guess = Object.fromEntries(FIELDS.map((field) => [field, named(field)]));
  const columns = { header, ...(guess as Record<Field, number | null>) };
  const urls = urlColumns(sample);
  const destination = columns.destination ?? urls[0] ?? null;
  // A second column of URLs may contain the short URLs. Of two columns, the other one contains the
  // endings.
  const other = first.length === 2 && destination !== null ? 1 - destination : null;
  const taken = [destination, ...FIELDS.map((field) => columns[field])];
  const short = urls.find((index) => !taken.includes(index) && isShort(sample, index));
  const code = columns.code ?? short ?? (header ? null : other);
  return { ...columns, destination, code: code === destination ? null : code };
}

function isHeader(headers: readonly string[], rest: readonly string[][]): boolean {
  const isNamed = FIELDS.some((field) => NAMES[field].some((name) => headers.includes(name)));
  return isNamed || urlColumns(rest).length > 0;
}

/** Whether every URL of a column has the form of a short URL. */
function isShort(records: readonly string[][], index: number): boolean {
  return records.every((cells) => {
    const cell = cells[index]?.trim() ?? '';
    return cell === '' || (!cell.includes('?') && SHORT_PATH.test(pathOf(cell)));
  });
}

/** Returns the indexes of the columns with URLs, the one with the longest URLs first. */
function urlColumns(records: readonly string[][]): number[] {
  const lengths = new Map<number, number>();
  for (const cells of records) {
    cells.forEach((cell, index) => {
      if (!WEB_URL.test(cell.trim())) return;
      lengths.set(index, (lengths.get(index) ?? 0) + cell.trim().length);
    });
  }
  return [...lengths].sort(([, one], [, other]) => other - one).map(([index]) => index);
}

/**
 * Returns which of these normalized headers name a title, tags and dates, unless another name of
 * the field is read. `isRead` says whether a header is.
 */
export function unreadNames(
  headers: readonly string[],
  isRead: (header: string) => boolean,
): Partial<Record<Field, string>> {
  const fields = ['title', 'tags', 'created_at', 'expires_at'] as const;
  const unread = fields.map((field) => {
    const named = NAMES[field].filter((name) => headers.includes(name));
    return [field, named.some(isRead) ? undefined : named[0]];
  });
  return Object.fromEntries(unread) as Partial<Record<Field, string>>;
}

export function readColumns(cells: readonly string[], columns: Columns): Found {
  const cell = (field: Field) => textOf(cells[columns[field] ?? -1]);
  return {
    codes: [pathOf(cell('code'))],
    shortUrls: [cell('code')],
    destination: cell('destination'),
    title: cell('title'),
    tags: listOf(cell('tags'), /[,;|]/),
    created: cell('created_at'),
    expires: cell('expires_at'),
  };
}
