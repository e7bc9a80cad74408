import axios, { type AxiosResponse } from 'axios';
import * as v from 'valibot';
import { functions } from '../lib/edge';
import { Failure, type FailureCode } from './failure';

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

const errorBody = v.object({ error: v.object({ status: v.string() }) });

export interface CallOptions {
  signal?: AbortSignal;
}

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
  { signal }: CallOptions = {},
): Promise<Dated<v.InferOutput<S>>> {
  const response = await post(name, payload, signal);
  if (response.status !== 200) throw refusal(name, response);
  const { data } = checked(name, v.object({ data: v.unknown() }), response.data);
  const { date } = response.headers as Record<string, unknown>;
  return { data: checked(name, schema, data), date: Date.parse(String(date)) };
}

/** What a reply holds, once it has the shape that it should have. */
export function checked<S extends Schema>(
  name: string,
  schema: S,
  value: unknown,
): v.InferOutput<S> {
  const reply = v.safeParse(schema, value);
  if (!reply.success) throw new Failure(name, 'failed', 'a reply of another shape');
  return reply.output;
}

async function post(name: Name, payload: object, signal?: AbortSignal): Promise<AxiosResponse> {
  try {
    return await axios.post(
      functions[name],
      { data: payload },
      { timeout: TIMEOUT, validateStatus: () => true, ...(signal && { signal }) },
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
  );
}

function milliseconds(retryAfter: unknown): number | undefined {
  const seconds = Number(retryAfter ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}

/** An outcome the specification names is data; here it becomes a failure of the same name. */
export function outcome<E extends string>(...errors: E[]) {
  return v.object({ success: v.literal(false), error: v.picklist(errors) });
}
