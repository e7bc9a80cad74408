/** Calls about links of anybody. */
import * as v from 'valibot';
import { call, succeed, type CallOptions } from '../client';
import {
  blockReason,
  CHANGE,
  code,
  endedState,
  linkState,
  moment,
  type BlockReason,
  type LinkState,
} from './shared';

const accessReply = v.object({
  success: v.literal(true),
  longUrl: v.array(v.object({ long_link: v.string() })),
  state: v.optional(endedState),
  reason: v.optional(blockReason),
});

/** The resolution of a code. */
export interface Access {
  state: LinkState;
  /** Destination; null if the link does not redirect. */
  url: string | null;
  /** Why it is blocked; null in every other state. */
  reason: BlockReason | null;
}

/** Resolves a code. Returns null if no link ever had it or the link was deleted permanently. */
export async function accessLink(shortCode: string, options: CallOptions): Promise<Access | null> {
  const reply = await call('accessLink', { code: shortCode }, accessReply, options);
  const url = reply.longUrl[0]?.long_link ?? null;
  if (reply.state === undefined && url === null) return null;
  return { state: reply.state ?? 'active', url, reason: reply.reason ?? null };
}

const preview = v.object({
  code,
  long_link: v.nullish(v.string()),
  host: v.nullish(v.string()),
  state: linkState,
  reason: v.nullable(blockReason),
  created_at: moment,
  changed_at: v.nullable(moment),
  title: v.nullish(v.string()),
  warnings: v.array(v.string()),
});

/**
 * A public preview of a link.
 *
 * Only an active link has `long_link` and `title`. It and a blocked link have `host`, in ASCII as in
 * requests. A later server version may send `warnings` that this page does not know.
 */
export type Preview = v.InferOutput<typeof preview>;

/**
 * Returns the preview of a link without counting a visit. Returns null if no link ever had the code
 * or the link was deleted permanently.
 */
export async function previewLink(
  shortCode: string,
  options: CallOptions = {},
): Promise<Preview | null> {
  const reply = v.object({ success: v.literal(true), preview: v.nullable(preview) });
  return (await call('previewLink', { code: shortCode }, reply, options)).preview;
}

export interface LinkReport {
  code: string;
  reason: BlockReason;
  /** '' for none. */
  details: string;
  /** Email address of the reporter; '' for none. */
  contact: string;
}

/** Reports a link to the operator. */
export async function reportLink({ contact, ...report }: LinkReport): Promise<void> {
  const payload = { ...report, contact: contact === '' ? null : contact };
  await succeed('reportLink', payload, { report: v.string() }, ['no exist'], CHANGE);
}
