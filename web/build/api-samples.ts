/** Code samples of the API's documentation. The tests run each of them against a product. */

/** An operation as far as its samples need it. */
export interface SampleRequest {
  method: string;
  /** The path below the base URL, with values for its parameters. */
  path: string;
  query: Readonly<Record<string, string>>;
  headers: Readonly<Record<string, string>>;
  /** The JSON body, undefined for none. */
  body: unknown;
  /** Whether the response has a body. */
  answers: boolean;
}

/** The origin in the samples. The server replaces it by its own. */
export const ORIGIN = 'https://atajo.example';
/** Stands for the reader's key, and is replaced by it. */
export const KEY = 'YOUR_API_KEY';

export const languages = {
  curl: { name: 'curl', sample: curl },
  python: { name: 'Python', sample: python },
  javascript: { name: 'JavaScript', sample: javascript },
} as const;

function curl(url: string, { method, query, headers, body }: SampleRequest): string {
  const parameters = new URLSearchParams(query).toString();
  const verb = method === 'GET' || (method === 'POST' && body !== undefined) ? '' : `-X ${method} `;
  const all = { Authorization: `Bearer ${KEY}`, ...headers, ...contentType(body) };
  return [
    `curl ${verb}'${url}${parameters && `?${parameters}`}'`,
    ...Object.entries(all).map(([name, value]) => `-H '${name}: ${value}'`),
    ...(body === undefined ? [] : [`-d '${JSON.stringify(body, null, 2)}'`]),
  ].join(' \\\n  ');
}

function python(url: string, { method, query, headers, body, answers }: SampleRequest): string {
  const all = { Authorization: `Bearer ${KEY}`, ...headers };
  return [
    'import requests',
    '',
    `response = requests.${method.toLowerCase()}(`,
    `    "${url}",`,
    ...(Object.keys(query).length > 0 ? [`    params=${pythonValue(query, 4)},`] : []),
    `    headers=${pythonValue(all, 4)},`,
    ...(body === undefined ? [] : [`    json=${pythonValue(body, 4)},`]),
    '    timeout=30,',
    ')',
    'response.raise_for_status()',
    ...(answers ? ['print(response.json())'] : []),
  ].join('\n');
}

function javascript(url: string, { method, query, headers, body, answers }: SampleRequest): string {
  const all = { Authorization: `Bearer ${KEY}`, ...headers, ...contentType(body) };
  const parameters = Object.keys(query).length > 0;
  return [
    ...(parameters ? [`const query = new URLSearchParams(${scriptValue(query, 0)});`] : []),
    `const response = await fetch(${parameters ? `\`${url}?\${query}\`` : `"${url}"`}, {`,
    ...(method === 'GET' ? [] : [`  method: "${method}",`]),
    `  headers: ${scriptValue(all, 2)},`,
    ...(body === undefined ? [] : [`  body: JSON.stringify(${scriptValue(body, 2)}),`]),
    '});',
    'if (!response.ok) throw new Error(`HTTP ${response.status}`);',
    ...(answers ? ['console.log(await response.json());'] : []),
  ].join('\n');
}

function contentType(body: unknown): Record<string, string> {
  return body === undefined ? {} : { 'Content-Type': 'application/json' };
}

/** Returns JSON as a Python literal, whose further lines are indented by `indent` spaces. */
function pythonValue(value: unknown, indent: number): string {
  const constants = { null: 'None', true: 'True', false: 'False' };
  return literal(value, indent, 4, JSON.stringify, (constant) => constants[constant]);
}

/** Returns JSON as a JavaScript literal, whose further lines are indented by `indent` spaces. */
function scriptValue(value: unknown, indent: number): string {
  const name = (key: string) => (/^[a-z_]\w*$/i.test(key) ? key : JSON.stringify(key));
  return literal(value, indent, 2, name, (constant) => constant);
}

type Constant = 'null' | 'true' | 'false';

function literal(
  value: unknown,
  indent: number,
  step: number,
  name: (key: string) => string,
  constant: (name: Constant) => string,
): string {
  const inner = (part: unknown) => literal(part, indent + step, step, name, constant);
  const lines = (open: string, parts: string[], close: string) =>
    [
      open,
      ...parts.map((part) => `${' '.repeat(indent + step)}${part},`),
      ' '.repeat(indent) + close,
    ].join('\n');
  if (value === null || typeof value === 'boolean') return constant(String(value) as Constant);
  if (Array.isArray(value)) {
    if (value.every((part) => typeof part !== 'object')) return `[${value.map(inner).join(', ')}]`;
    return lines('[', value.map(inner), ']');
  }
  if (typeof value === 'object') {
    const fields = Object.entries(value).map(([key, part]) => `${name(key)}: ${inner(part)}`);
    return lines('{', fields, '}');
  }
  return JSON.stringify(value);
}
