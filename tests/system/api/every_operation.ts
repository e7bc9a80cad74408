// Calls every operation of the REST API with a client of openapi-fetch, over types that
// openapi-typescript generated from the description.

import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { paths } from './api.d.ts';

const { URL: baseUrl = '', KEY: key = '' } = process.env;
const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });

const url = 'https://example.com/';
const created = await client.POST('/links', {
  body: { url, tags: ['a'] },
  params: { header: { 'Idempotency-Key': 'once' } },
});
assert.equal(created.response.status, 201);
assert.ok(created.data);
const { code } = created.data;
const path = { code };

const listed = await client.GET('/links', { params: { query: { order: 'oldest', limit: 1 } } });
assert.deepEqual(listed.data?.items.map((link) => link.code), [code]);

const bulk = await client.POST('/links/bulk', { body: { links: [{ url }, { url, code }] } });
const [first, second] = bulk.data?.results ?? [];
assert.ok(first && 'link' in first && second && 'problem' in second);
assert.deepEqual([first.status, second.problem.code], [201, 'code_taken']);

assert.deepEqual((await client.GET('/links/{code}', { params: { path } })).data, created.data);
const changed = await client.PATCH('/links/{code}', {
  params: { path },
  body: { title: 'changed', expires_at: null },
});
assert.equal(changed.data?.title, 'changed');
assert.equal((await client.DELETE('/links/{code}', { params: { path } })).response.status, 204);
const restored = await client.POST('/links/{code}/restore', { params: { path } });
assert.equal(restored.data?.state, 'active');

const ofLink = await client.GET('/links/{code}/statistics', {
  params: { path, query: { range: 'all' } },
});
assert.equal(ofLink.data?.totals.people, 0);
const ofAll = await client.GET('/statistics', {
  params: { query: { from: '2026-01-01', to: '2026-01-31' } },
});
assert.deepEqual(ofAll.data?.top, []);
assert.equal((await client.GET('/account')).data?.links, 2);

const missing = await client.GET('/links/{code}', { params: { path: { code: 'none-here' } } });
assert.deepEqual([missing.error?.status, missing.error?.code], [404, 'not_found']);
