import axios, { type AxiosResponse } from 'axios';
import * as v from 'valibot';
import { functions } from '../lib/edge';
import { Failure, type FailureCode } from './failure';
import { reasons } from './reasons';

/** The functions client's own limit. */
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
  /** The call only looks ahead, as a browser does that fetches before it is asked to: no visit. */
  ahead?: boolean;
  /** It changes something that people took for done: it goes on where the page is left meanwhile. */
  outlives?: boolean;
}

/**
 * An XMLHttpRequest ends with its page, so such a call is a fetch. Of all that are under way at a
 * time browsers let bodies of 64 kB be sent so; no act here has more than 12.
 */
const OUTLIVING = { adapter: 'fetch', fetchOptions: { keepalive: true } };

/** The name of a function that the product has. */
type Name = keyof typeof functions;

type Schema = v.BaseSchema<unknown, unknown, v.BaseIssue<unknown>>;

/** POST /<name> with {data: payload}; answers what the reply holds under data, checked. */
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
  /** Epoch milliseconds of the server's clock as it answered, cut to the second; NaN if untold. */
  date: number;
}

/** A call whose answer is of use only with the time it was given at. */
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

/** What a reply holds, once it has the shape that it should have. */
function checked<S extends Schema>(name: string, schema: S, value: unknown): v.InferOutput<S> {
  const reply = v.safeParse(schema, value);
  if (!reply.success) throw new Failure(name, 'failed', 'a reply of another shape');
  return reply.output;
}

async function post(
  name: Name,
  payload: object,
  { signal, ahead = false, outlives = false }: CallOptions,
): Promise<AxiosResponse> {
  try {
    return await axios.post(
      functions[name],
      { data: payload },
      {
        timeout: TIMEOUT,
        validateStatus: () => true,
        ...(signal && { signal }),
        ...(ahead && { headers: { Purpose: 'prefetch' } }),
        ...(outlives && OUTLIVING),
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

/** The outcomes that the specification names are data; each becomes a failure of the same name. */
const byOutcome = {
  'invalid token': 'invalid-token',
  'no logged': 'no-logged',
  'no exist': 'no-exist',
  incorrect: 'incorrect',
  exist: 'exist',
} as const satisfies Record<string, FailureCode>;

type Outcome = keyof typeof byOutcome;

/** Calls a function that says whether it did what it was asked to; answers what it says then. */
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
