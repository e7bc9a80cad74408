import axios, { type AxiosResponse } from 'axios';
import * as v from 'valibot';
import { functions } from '../lib/edgeNames';
import { Failure, type FailureCode } from './failure';
import { reasons } from './reasons';

/** Timeout of a call in milliseconds, the default of the Firebase Functions client. */
const TIMEOUT = 70_000;

const byStatus: Record<string, FailureCode> = {
  INVALID_ARGUMENT: 'invalid-argument',
  ABORTED: 'aborted',
  RESOURCE_EXHAUSTED: 'resource-exhausted',
};
const byHttp: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
};

const errorBody = v.object({
  error: v.object({
    status: v.string(),
    details: v.fallback(
      v.object({ reason: v.fallback(v.optional(v.picklist(reasons)), undefined) }),
      { reason: undefined },
    ),
  }),
});

export interface CallOptions {
  signal?: AbortSignal;
  /** Sends `Purpose: prefetch`, so that the server does not count a visit. */
  prefetch?: boolean;
  /**
   * Lets the request complete after the user leaves the page, for changes that the page already
   * shows.
   */
  keepalive?: boolean;
}

/**
 * Options of requests that outlive the page.
 *
 * An XMLHttpRequest ends with its page, so such a request uses fetch with `keepalive`. Browsers
 * allow 64 kB for the bodies of all concurrent keepalive requests. No action here has more than 12
 * kB.
 */
const KEEPALIVE = { adapter: 'fetch', fetchOptions: { keepalive: true } };

/** Name of a backend function. */
type Name = keyof typeof functions;

type Schema = v.BaseSchema<unknown, unknown, v.BaseIssue<unknown>>;

/**
 * Calls a backend function: POST /<name> with {data: payload}.
 *
 * Returns the `data` of the reply, validated by `schema`. Throws a Failure.
 */
export async function call<S extends Schema>(
  name: Name,
  payload: object,
  schema: S,
  options: CallOptions = {},
): Promise<v.InferOutput<S>> {
  return (await datedCall(name, payload, schema, options)).data;
}

interface Dated<T> {
  data: T;
  /** Server time of the response in epoch milliseconds, truncated to the second; NaN if unknown. */
  date: number;
}

/** Like `call`, but also returns the server time of the response. */
export async function datedCall<S extends Schema>(
  name: Name,
  payload: object,
  schema: S,
  options: CallOptions = {},
): Promise<Dated<v.InferOutput<S>>> {
  const response = await post(name, payload, options);
  if (response.status !== 200) throw refusal(name, response);
  const { data } = checked(name, v.object({ data: v.unknown() }), response.data);
  const { date } = response.headers as Record<string, unknown>;
  return { data: checked(name, schema, data), date: Date.parse(String(date)) };
}

/** Validates a reply. Throws a Failure if it has another shape. */
function checked<S extends Schema>(name: string, schema: S, value: unknown): v.InferOutput<S> {
  const reply = v.safeParse(schema, value);
  if (!reply.success) throw new Failure(name, 'failed', 'a reply of another shape');
  return reply.output;
}

async function post(
  name: Name,
  payload: object,
  { signal, prefetch = false, keepalive = false }: CallOptions,
): Promise<AxiosResponse> {
  try {
    return await axios.post(
      functions[name],
      { data: payload },
      {
        timeout: TIMEOUT,
        validateStatus: () => true,
        ...(signal && { signal }),
        ...(prefetch && { headers: { Purpose: 'prefetch' } }),
        ...(keepalive && KEEPALIVE),
      },
    );
  } catch (error) {
    throw new Failure(name, 'failed', axios.isAxiosError(error) ? error.code : undefined);
  }
}

function refusal(name: Name, response: AxiosResponse): Failure {
  const body = v.safeParse(errorBody, response.data);
  const status = body.success ? body.output.error.status : byHttp[response.status];
  const code = (status && byStatus[status]) || 'failed';
  const headers = response.headers as Record<string, unknown>;
  return new Failure(
    name,
    code,
    `${response.status} ${status ?? ''}`.trim(),
    code === 'resource-exhausted' ? milliseconds(headers['retry-after']) : undefined,
    body.success ? body.output.error.details.reason : undefined,
  );
}

function milliseconds(retryAfter: unknown): number | undefined {
  const seconds = Number(retryAfter ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}

/**
 * Failure codes by outcome. By the specification, these outcomes are data of successful responses.
 */
const byOutcome = {
  'invalid token': 'invalid-token',
  'no logged': 'no-logged',
  'no exist': 'no-exist',
  incorrect: 'incorrect',
  exist: 'exist',
  invitation: 'invitation',
  closed: 'closed',
  suspended: 'suspended',
  'not allowed': 'not-allowed',
  confirm: 'confirm',
  'last administrator': 'last-administrator',
  off: 'off',
  unavailable: 'unavailable',
  refused: 'refused',
  unverified: 'unverified',
  'last login': 'last-login',
} as const satisfies Record<string, FailureCode>;

type Outcome = keyof typeof byOutcome;

/**
 * Calls a function whose reply has `success`.
 *
 * Returns the validated reply. Throws a Failure for the `outcomes` that the function can report.
 */
export async function succeed<T extends v.ObjectEntries>(
  name: Name,
  payload: object,
  entries: T,
  outcomes: readonly Outcome[],
  options: CallOptions = {},
): Promise<Dated<v.InferOutput<v.ObjectSchema<T, undefined>>>> {
  const refused = v.object({ success: v.literal(false), error: v.picklist(outcomes) });
  const { data, date } = await datedCall(
    name,
    payload,
    v.variant('success', [v.looseObject({ success: v.literal(true) }), refused]),
    options,
  );
  if (!data.success) throw new Failure(name, byOutcome[data.error]);
  return { data: checked(name, v.object(entries), data), date };
}
