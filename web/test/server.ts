/** A mock backend: an interceptor of axios that answers every request. */
import { act } from '@testing-library/react';
import axios, { AxiosError, AxiosHeaders, type InternalAxiosRequestConfig } from 'axios';
import { noVisits } from './statistics';

export interface Reply {
  status?: number;
  body?: unknown;
  headers?: Record<string, string>;
}
type Answer = Reply | 'network error' | Promise<Reply>;
type Handler = (payload: Record<string, unknown>) => Answer;

export interface Call {
  name: string;
  payload: Record<string, unknown>;
}

let interceptor: number | undefined;
let answers: Promise<unknown>[] = [];

export const data = (value: object): Reply => ({ body: { data: value } });
export const error = (status: number, name: string, headers = {}, details = {}): Reply => ({
  status,
  body: { error: { status: name, message: name, details } },
  headers,
});
/** Returns answers that a test gives later, in the order of their requests. */
export function held() {
  const given: ((reply: Reply) => void)[] = [];
  return { given, ask: () => new Promise<Reply>((resolve) => given.push(resolve)) };
}
export const never = () => new Promise<Reply>(() => undefined);

/** Default handlers of calls that a test is not about. They are not in the list of calls. */
const defaults: Record<string, Handler> = {
  showStatistics: () => noVisits(),
  listKeys: () => data({ success: true, keys: [] }),
  listSessions: () => data({ success: true, sessions: [] }),
  endSession: () => data({ success: true }),
  countRecoveryCodes: () => data({ success: true, left: 0 }),
  listPasskeys: () => data({ success: true, passkeys: [] }),
};

/**
 * Answers each call by its name. Returns the list of calls, or of the calls of the function `only`.
 */
export function serve(handlers: Record<string, Handler>, only?: string): Call[] {
  const calls: Call[] = [];
  answers = [];
  const reply = async (config: InternalAxiosRequestConfig) => {
    const name = (config.url ?? '').slice(1);
    const { data: payload } = JSON.parse(String(config.data)) as { data: Call['payload'] };
    const isListed = only === undefined ? name in handlers || !(name in defaults) : name === only;
    if (isListed) calls.push({ name, payload });
    const aborted = new Promise<never>((_resolve, reject) => {
      config.signal?.addEventListener?.('abort', () => reject(new AxiosError('canceled')));
    });
    const answer = await Promise.race([
      (handlers[name] ?? defaults[name])?.(payload) ?? 'network error',
      aborted,
    ]);
    if (answer === 'network error') throw new AxiosError('Network Error', 'ERR_NETWORK');
    return {
      status: answer.status ?? 200,
      statusText: '',
      headers: new AxiosHeaders(answer.headers),
      data: answer.body,
      config,
    };
  };
  closeServer();
  // Every call comes here, whichever adapter it uses.
  interceptor = axios.interceptors.request.use((config) => ({
    ...config,
    adapter: (sent) => {
      const answer = reply(sent);
      answers.push(answer);
      return answer;
    },
  }));
  return calls;
}

/** Resolves once every call has its response and the page has rendered it. */
export async function answered(): Promise<void> {
  await act(() => Promise.allSettled(answers));
}

/** Resolves once the page has rendered all responses so far, even if calls are in flight. */
export async function settled(): Promise<void> {
  await act(() => new Promise((resolve) => setTimeout(resolve)));
}

export function closeServer(): void {
  if (interceptor !== undefined) axios.interceptors.request.eject(interceptor);
  interceptor = undefined;
}
