import { useState } from 'react';
import type { BlockReason } from '../../../api';
import { failureCode } from '../../../api';
import {
  decide,
  listReports,
  type NewDecision,
  type ReportedLink,
} from '../../../api/administration';
import { cache } from '../../../api/cache';
import { endRefusedSession } from '../../../api/endRefusedSession';
import { keys } from '../../../api/keys';
import { announce } from '../../../lib/announce';
import { useAdministrator, useList, type ListData } from '../administrator';
import { reports as texts } from '../messages';
import { failureText } from '../useAction';

/** Number of links after the selected one from which on the next page is loaded. */
const AHEAD = 5;

type Verdict = { action: 'block'; class: BlockReason; comment: string } | { action: 'dismiss' };

/** The last decision, which can be undone. */
interface Last {
  link: ReportedLink;
  /** Its place in the queue before. */
  at: number;
  verdict: Verdict;
  state: 'running' | 'done' | 'failed' | 'undone';
  /** What happened, in one line. */
  text: string;
  /** Resolves once the server has answered. */
  answered: Promise<boolean>;
}

/** The links that await a decision, the selected one, and the last decision. */
export function useQueue() {
  const { account, run } = useAdministrator();
  const query = useList('listReports', [], listReports);
  const links = query.data?.pages.flatMap(({ items }) => items) ?? [];
  const [wanted, setWanted] = useState<string | null>(null);
  const [last, setLast] = useState<Last | null>(null);

  const at = Math.max(
    links.findIndex(({ code }) => code === wanted),
    0,
  );
  const selected = links[at] ?? null;

  const select = (place: number) => {
    const link = links[Math.min(Math.max(place, 0), links.length - 1)];
    if (link) setWanted(link.code);
    if (place + AHEAD >= links.length && query.hasNextPage && !query.isFetchingNextPage)
      void query.fetchNextPage();
  };

  const change = (edit: (items: ReportedLink[]) => ReportedLink[]) =>
    cache.setQueryData<ListData<ReportedLink>>(
      keys.administration(account, 'listReports'),
      // One list: the places of links do not depend on the pages that they came with.
      (data) =>
        data && {
          ...data,
          pages: data.pages.map((page, index) => ({
            ...page,
            items: index === 0 ? edit(data.pages.flatMap(({ items }) => items)) : [],
          })),
        },
    );
  const remove = (link: ReportedLink) =>
    change((items) => items.filter(({ code }) => code !== link.code));
  const putBack = (link: ReportedLink, place: number) => {
    change((items) => [
      ...items.slice(0, place).filter(({ code }) => code !== link.code),
      link,
      ...items.slice(place).filter(({ code }) => code !== link.code),
    ]);
    setWanted(link.code);
  };

  const say = (link: ReportedLink, state: Last['state'], text: string) => {
    setLast((known) => (known?.link === link ? { ...known, state, text } : known));
    announce(text);
  };

  /** Sends a decision. Returns whether it holds. */
  const send = async (link: ReportedLink, place: number, verdict: Verdict): Promise<boolean> => {
    const made: NewDecision = { subject: link.code, ...verdict };
    try {
      await run(() => decide(account, made));
    } catch (error) {
      if (endRefusedSession(account, error)) return false;
      const code = failureCode(error);
      // Somebody else was faster, or the link is gone: there is nothing left to decide.
      if (code !== 'no-exist') {
        if (code === 'failed') console.error(error);
        putBack(link, place);
        say(link, 'failed', texts.notDecided(link.code, failureText(error)));
        return false;
      }
    }
    void cache.invalidateQueries({
      queryKey: keys.administration(account, 'showReports', link.code),
    });
    say(link, 'done', texts.done(link.code, verdict));
    return true;
  };

  const make = (verdict: Verdict) => {
    if (!selected) return;
    setWanted((links[at + 1] ?? links[at - 1])?.code ?? null);
    remove(selected);
    const answered = send(selected, at, verdict);
    const text = texts.running(selected.code, verdict);
    setLast({ link: selected, at, verdict, state: 'running', text, answered });
    if (at + AHEAD >= links.length && query.hasNextPage && !query.isFetchingNextPage)
      void query.fetchNextPage();
  };

  /** Puts the link back into the queue, and unblocks it if it was blocked. */
  const undo = async () => {
    if (!last || last.state === 'failed' || last.state === 'undone') return;
    const { link, at: place, verdict, answered } = last;
    setLast({ ...last, state: 'undone', text: texts.undoing(link.code) });
    if (!(await answered)) return;
    try {
      if (verdict.action === 'block')
        await run(() => decide(account, { subject: link.code, action: 'unblock' }));
    } catch (error) {
      if (endRefusedSession(account, error)) return;
      if (failureCode(error) !== 'no-exist') {
        console.error(error);
        say(link, 'done', texts.notUndone(link.code, failureText(error)));
        return;
      }
    }
    putBack(link, place);
    say(link, 'undone', texts.undone(link.code, verdict.action));
  };

  return { query, links, at, selected, last, select, make, undo };
}
