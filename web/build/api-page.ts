/** Fills the documentation of the API, api.html, with what its description says. */
import { readFileSync } from 'node:fs';
import type { Plugin } from 'vite';
import { documents } from '../src/lib/edge.ts';
import { KEY, languages, ORIGIN, type SampleRequest } from './api-samples.ts';

const SOURCE = new URL('../../docs/reference/openapi.json', import.meta.url);

interface Schema {
  $ref?: string;
  type?: string;
  format?: string;
  enum?: readonly string[];
  const?: number | string;
  anyOf?: readonly Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: readonly string[];
  description?: string;
  default?: string | number | boolean;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  maxItems?: number;
}

interface Problem {
  title: string;
  status: number;
  detail: string;
}

interface Media {
  schema: Schema;
  example?: unknown;
  examples?: Record<string, unknown>;
}

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: Schema;
}

interface Operation {
  operationId: string;
  summary: string;
  description: string;
  tags: readonly string[];
  security: readonly Record<string, readonly string[]>[];
  parameters?: readonly Parameter[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { description: string; content?: Record<string, Media> }>;
}

interface Description {
  servers: readonly [{ url: string }];
  tags: readonly { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
  /** By code. */
  'x-problems': Record<string, Problem>;
}

interface Route extends Operation {
  method: string;
  path: string;
}

/** Query parameters and headers of samples, which the description has no examples of. */
const QUERIES: Record<string, Record<string, string>> = {
  listLinks: { query: 'sale', limit: '20' },
  getLinkStatistics: { range: '7 days', timezone: 'Europe/Madrid' },
  getStatistics: { from: '2026-03-01', to: '2026-03-31' },
};
const HEADERS: Record<string, Record<string, string>> = {
  createLink: { 'Idempotency-Key': 'order-4711' },
  createLinks: { 'Idempotency-Key': 'order-4712' },
};
/** Schemas that api.html explains, or that the operation with the request shows. */
const SHOWN_ELSEWHERE = new Set(['Problem', 'Fault', 'NewLink', 'NewLinks', 'LinkChanges']);

/** Vite plugin that replaces the comments in api.html, such as `<!-- errors -->`. */
export function apiPage(): Plugin {
  return {
    name: 'atajo:api-page',
    transformIndexHtml: {
      order: 'pre',
      handler(page, { filename }) {
        if (!filename.endsWith('/api.html')) return page;
        const parts = partsOf(JSON.parse(readFileSync(SOURCE, 'utf8')) as Description);
        return page.replace(/<!-- ([\w-]+) -->/g, (comment, name: string) => {
          const part = parts[name];
          if (part === undefined) throw new Error(`api.html has no part for ${comment}`);
          return part;
        });
      },
    },
  };
}

function partsOf(description: Description): Record<string, string> {
  const base = `${ORIGIN}${description.servers[0].url}`;
  const routes = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Route => ({
      ...operation,
      path,
      method: method.toUpperCase(),
    })),
  );
  const { schemas } = description.components;
  const problems = description['x-problems'];
  const objects = Object.entries(schemas).filter(
    ([name, { properties }]) => properties && !SHOWN_ELSEWHERE.has(name),
  );
  const groups = description.tags.map((tag) => ({
    ...tag,
    routes: routes.filter(({ tags }) => tags.includes(tag.name)),
  }));
  const show = (id: string) => {
    const route = routes.find(({ operationId }) => operationId === id);
    if (!route) throw new Error(`There is no operation ${id}`);
    return samples(route, base);
  };
  return {
    base: escape(base),
    languages: languageChoice(),
    'sample-account': show('getAccount'),
    'example-account': example(routes, 'getAccount'),
    'example-problem': json({
      type: `${documents.api}#code_taken`,
      ...problems['code_taken'],
      code: 'code_taken',
    }),
    fault: fields('Fields of a fault', schemas['Fault'], schemas),
    errors: errorTable(problems),
    contents: groups
      .map(
        ({ name, routes: own }) =>
          `<li><a href="#${anchor(name)}">${escape(name)}</a><ol>${own
            .map(
              ({ operationId, summary }) =>
                `<li><a href="#${operationId}">${escape(summary)}</a></li>`,
            )
            .join('')}</ol></li>`,
      )
      .join(''),
    operations: groups
      .map(
        ({ name, description: about, routes: own }) =>
          `<section><h2 id="${anchor(name)}">${escape(name)}</h2><p>${escape(about)}</p>${own
            .map((route) => operation(route, base, schemas))
            .join('')}</section>`,
      )
      .join(''),
    objects: objects
      .map(
        ([name, schema]) =>
          `<section><h3 id="${name}">${name}</h3><p>${inline(schema.description ?? '')}</p>${fields(
            name,
            schema,
            schemas,
          )}</section>`,
      )
      .join(''),
  };
}

function operation(route: Route, base: string, schemas: Record<string, Schema>): string {
  const { operationId, method, path, summary, description, parameters = [], security } = route;
  const scopes = security.flatMap((one) => Object.values(one).flat());
  const body = route.requestBody?.content['application/json'];
  const succeeded = Object.entries(route.responses).find(([code]) => code < '300');
  if (!succeeded) throw new Error(`${operationId} cannot succeed`);
  const [status, success] = succeeded;
  const reply = success.content?.['application/json'];
  const codes = Object.values(route.responses).flatMap(({ content }) =>
    Object.keys(content?.['application/problem+json']?.examples ?? {}),
  );
  return `<section class="operation">
    <h3 id="${operationId}">${escape(summary)}</h3>
    <p class="route"><strong>${method}</strong> <code>${escape(path).replaceAll('/', '/<wbr>')}</code></p>
    ${paragraphs(description)}
    <p>${scopes.length > 0 ? `Scope: ${scopes.map((scope) => `<code>${scope}</code>`).join(', ')}` : 'Any key, whatever its scopes.'}</p>
    ${
      parameters.length > 0
        ? `<h4>Parameters</h4>${rows(
            `Parameters: ${summary}`,
            parameters.map((one) => ({ ...one, note: one.in === 'query' ? '' : one.in })),
            schemas,
          )}`
        : ''
    }
    ${body ? `<h4>Body</h4>${fields(`Body: ${summary}`, resolved(body.schema, schemas), schemas)}` : ''}
    ${samples(route, base)}
    <h4>Response</h4>
    <p><code>${status}</code>${reply ? `, ${typeOf(reply.schema, schemas)}. ${inline(success.description)}` : ', without a body.'}</p>
    ${reply?.example === undefined ? '' : json(reply.example)}
    <p class="codes">Errors: ${codes.map((code) => `<a href="#${code}"><code>${code}</code></a>`).join(' ')}</p>
  </section>`;
}

/** Returns an operation's samples in each language. */
function samples(route: Route, base: string): string {
  const path = route.path.replace(/\{code\}/g, 'spring-sale');
  const body = route.requestBody?.content['application/json']?.example;
  const request: SampleRequest = {
    method: route.method,
    path,
    query: QUERIES[route.operationId] ?? {},
    headers: HEADERS[route.operationId] ?? {},
    body,
    answers: !('204' in route.responses),
  };
  const blocks = Object.entries(languages).map(
    ([language, { name, sample }]) =>
      `<figure class="sample" data-language="${language}"><figcaption>${name}</figcaption><pre tabindex="0" translate="no"><code>${escape(sample(`${base}${path}`, request)).replaceAll(KEY, `<span class="key">${KEY}</span>`)}</code></pre></figure>`,
  );
  return `<div class="samples">${blocks.join('')}</div>`;
}

function languageChoice(): string {
  const choices = Object.entries(languages).map(
    ([language, { name }], index) =>
      `<label><input type="radio" name="language" id="language-${language}"${index === 0 ? ' checked' : ''}><span>${name}</span></label>`,
  );
  return `<fieldset class="languages"><legend>Language of the samples</legend>${choices.join('')}</fieldset>`;
}

function example(routes: readonly Route[], id: string): string {
  const route = routes.find(({ operationId }) => operationId === id);
  return json(route?.responses['200']?.content?.['application/json']?.example);
}

function json(value: unknown): string {
  return `<pre tabindex="0" translate="no"><code>${escape(JSON.stringify(value, null, 2))}</code></pre>`;
}

function errorTable(problems: Readonly<Record<string, Problem>>): string {
  const body = Object.entries(problems).map(
    ([code, { status, title, detail }]) =>
      `<tr id="${code}"><td>${status}</td><th scope="row"><code>${code}</code></th><td>${escape(title)}. ${inline(detail)}</td></tr>`,
  );
  return table('Errors', ['Status', 'Code', 'Meaning'], body);
}

function fields(
  label: string,
  schema: Schema | undefined,
  schemas: Record<string, Schema>,
): string {
  const named = Object.entries(schema?.properties ?? {}).map(([name, one]) => ({
    name,
    schema: one,
    required: schema?.required?.includes(name) ?? false,
    note: '',
  }));
  return rows(label, named, schemas);
}

interface Row {
  name: string;
  schema: Schema;
  required: boolean;
  description?: string;
  note: string;
}

function rows(label: string, all: readonly Row[], schemas: Record<string, Schema>): string {
  const body = all.map(({ name, schema, required, description, note }) => {
    const about = description ?? schema.description ?? resolved(schema, schemas).description ?? '';
    const hints = [note, required ? 'required' : '', ...limits(schema)].filter(Boolean).join(', ');
    return `<tr><th scope="row"><code>${name}</code></th><td>${typeOf(schema, schemas)}${hints && `<br><small>${escape(hints)}</small>`}</td><td>${inline(about)}</td></tr>`;
  });
  return table(label, ['Name', 'Type', 'Meaning'], body);
}

function table(label: string, heads: readonly string[], body: readonly string[]): string {
  return `<div class="table" tabindex="0" role="region" aria-label="${escape(label)}"><table><thead><tr>${heads
    .map((head) => `<th scope="col">${head}</th>`)
    .join('')}</tr></thead><tbody>${body.join('')}</tbody></table></div>`;
}

function limits(schema: Schema): string[] {
  const {
    minLength = 0,
    maxLength,
    maxItems,
    minimum,
    maximum,
    default: given,
  } = withoutNull(schema);
  const found = [];
  if (maxLength !== undefined) found.push(`${Math.max(minLength, 0)}–${maxLength} characters`);
  if (maxItems !== undefined) found.push(`at most ${maxItems}`);
  if (minimum !== undefined && maximum !== undefined) found.push(`${minimum}–${maximum}`);
  if (given !== undefined && given !== '') found.push(`default ${String(given)}`);
  return found;
}

/** Returns the variant that is not null, with what stands beside `anyOf`. */
function withoutNull(schema: Schema): Schema {
  return { ...schema.anyOf?.find(({ type }) => type !== 'null'), ...schema };
}

function typeOf(schema: Schema, schemas: Record<string, Schema>): string {
  if (schema.anyOf) return schema.anyOf.map((one) => typeOf(one, schemas)).join(' or ');
  const target = resolved(schema, schemas);
  if (schema.$ref && target.properties) {
    const name = nameOf(schema.$ref);
    return SHOWN_ELSEWHERE.has(name) ? name : `<a href="#${name}">${name}</a>`;
  }
  if (target.enum) return target.enum.map((one) => `<code>${escape(one)}</code>`).join(', ');
  if (target.const !== undefined) return `<code>${escape(String(target.const))}</code>`;
  if (target.items) return `array of ${typeOf(target.items, schemas)}`;
  return target.format === 'date-time' ? 'time' : (target.type ?? 'any');
}

function resolved(schema: Schema, schemas: Record<string, Schema>): Schema {
  return schema.$ref === undefined ? schema : (schemas[nameOf(schema.$ref)] ?? schema);
}

function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}

function anchor(name: string): string {
  return `operations-${name.toLowerCase()}`;
}

function paragraphs(text: string): string {
  return text
    .split('\n\n')
    .map((one) => `<p>${inline(one)}</p>`)
    .join('');
}

/** Returns text with code in backticks as HTML. */
function inline(text: string): string {
  return escape(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}

function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
