/**
 * An unmodified Firebase Functions client, controlled by lines:
 *
 *   node web/test/firebase-client.mjs http://127.0.0.1:8080
 *
 * It reads {"name", "data"} from each line of its input and prints one line for each, in order:
 * {"ok": true, "data"} or {"ok": false, "code", "message", "details"}.
 */
import { createInterface } from 'node:readline';
import { initializeApp } from '@firebase/app';
import { getFunctions, httpsCallable } from '@firebase/functions';

const [origin] = process.argv.slice(2);
if (!origin) {
  console.error('usage: node firebase-client.mjs ORIGIN');
  process.exit(2);
}

const app = initializeApp({ projectId: 'atajo', apiKey: 'none', appId: 'none' });
const functions = getFunctions(app, origin);

for await (const line of createInterface({ input: process.stdin })) {
  if (line.trim() === '') continue;
  console.log(JSON.stringify(await answer(line)));
}
process.exit(0);

async function answer(line) {
  try {
    const { name, data } = JSON.parse(line);
    const result = await httpsCallable(functions, name)(data);
    return { ok: true, data: result.data };
  } catch (error) {
    const { code, message, details } = error;
    return { ok: false, code, message, details: details ?? null };
  }
}
