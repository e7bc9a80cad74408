/** A back end at the network's edge: axios believes it sends, and meets these answers. */
import { act } from '@testing-library/react';
import axios, { AxiosError, AxiosHeaders, type InternalAxiosRequestConfig } from 'axios';
import { nobodyCame } from './statistics';

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

let inTheWay: number | undefined;
let answers: Promise<unknown>[] = [];

export const data = (value: object): Reply => ({ body: { data: value } });
export const error = (status: number, name: string, headers = {}, details = {}): Reply => ({
  status,
  body: { error: { status: name, message: name, details } },
  headers,
});
/** Answers that come when a test gives them, in the order in which they were asked for. */
export function held() {
  const given: ((reply: Reply) => void)[] = [];
  return { given, ask: () => new Promise<Reply>((resolve) => given.push(resolve)) };
}
export const never = () => new Promise<Reply>(() => undefined);

/** What pages ask for beside what a test is about: answered so, and in no list of calls. */
const beside: Record<string, Handler> = { showStatistics: () => nobodyCame() };

/** Answers each call by its name; returns the list of what was called, or of the calls of one. */
export function serve(handlers: Record<string, Handler>, only?: string): Call[] {
  const calls: Call[] = [];
  answers = [];
  const reply = async (config: InternalAxiosRequestConfig) => {
    const name = (config.url ?? '').slice(1);
    const { data: payload } = JSON.parse(String(config.data)) as { data: Call['payload'] };
    const isWanted = only === undefined ? name in handlers || !(name in beside) : name === only;
    if (isWanted) calls.push({ name, payload });
    const aborted = new Promise<never>((_resolve, reject) => {
      config.signal?.addEventListener?.('abort', () => reject(new AxiosError('canceled')));
    });
    const answer = await Promise.race([
      (handlers[name] ?? beside[name])?.(payload) ?? 'network error',
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
  // However a call is to be sent, it comes here.
  inTheWay = axios.interceptors.request.use((config) => ({
    ...config,
    adapter: (sent) => {
      const answer = reply(sent);
      answers.push(answer);
      return answer;
    },
  }));
  return calls;
}

/** Ends once every call is answered, and what the page makes of the answers is done. */
export async function answered(): Promise<void> {
  await act(() => Promise.allSettled(answers));
}

/** Ends once what came by now is on the page, whatever else is still asked for. */
export async function settled(): Promise<void> {
  await act(() => new Promise((resolve) => setTimeout(resolve)));
}

export function closeServer(): void {
  if (inTheWay !== undefined) axios.interceptors.request.eject(inTheWay);
  inTheWay = undefined;
}
