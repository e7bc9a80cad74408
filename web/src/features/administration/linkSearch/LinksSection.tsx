import { useState } from 'react';
import { failureCode, type BlockReason } from '../../../api';
import { decide, explainBlock, type BlockExplanation } from '../../../api/administration';
import { cache } from '../../../api/cache';
import { keys } from '../../../api/keys';
import { Button } from '../../../components/Button';
import { Dialog, DialogActions } from '../../../components/Dialog';
import { Loaded } from '../../../components/LoadedList';
import { actions } from '../../../components/messages';
import admin from '../Administration.module.css';
import { useAdministrator, useRead, type SectionProps } from '../administrator';
import { BlockFields } from '../BlockFields';
import { LinkFile } from '../LinkFile';
import { classes, links as texts } from '../messages';
import { SearchField } from '../SearchField';
import { useSection } from '../sections';
import { failureText, useAction } from '../useAction';
import { codeOf } from './subject';

/** Finds a link, a host or a path, says why it is blocked, and blocks or unblocks it. */
export function LinksSection({ query: subject }: SectionProps) {
  const { open } = useSection();
  const code = codeOf(subject);
  return (
    <>
      <SearchField
        label={texts.search}
        hint={texts.searchHint}
        submit={texts.find}
        value={subject}
        onSearch={(searched) => open('links', searched)}
      />
      {subject === '' && <p>{texts.hint}</p>}
      {subject !== '' && <Explained key={subject} subject={subject} isLink={code !== null} />}
      {code !== null && <LinkFile code={code} />}
    </>
  );
}

interface ExplainedProps {
  subject: string;
  /** Whether the subject names a link. Otherwise it is a host or a path. */
  isLink: boolean;
}

function Explained({ subject, isLink }: ExplainedProps) {
  const query = useRead('explainBlock', [subject], (account, options) =>
    explainBlock(account, subject, options),
  );
  const code = failureCode(query.error);
  if (query.isError && (code === 'no-exist' || code === 'invalid-argument'))
    return <p role="alert">{failureText(query.error)}</p>;
  return (
    <Loaded query={query} texts={texts}>
      {(explanation) => <Verdict subject={subject} isLink={isLink} explanation={explanation} />}
    </Loaded>
  );
}

interface VerdictProps extends ExplainedProps {
  explanation: BlockExplanation;
}

function Verdict({ subject, isLink, explanation }: VerdictProps) {
  const { open } = useSection();
  const { account } = useAdministrator();
  const { busy, said, act } = useAction();
  const [isAsking, setAsking] = useState(false);
  const [reason, setReason] = useState<BlockReason>(explanation.class ?? 'phishing');
  const [comment, setComment] = useState('');
  const { blocked, by, class: reasonNow, detail } = explanation;

  const make = (action: 'block' | 'unblock') =>
    act(action, async () => {
      const more = action === 'block' ? { class: reason } : {};
      await decide(account, { subject, action, comment, ...more });
      await Promise.all(
        [
          keys.administration(account, 'explainBlock'),
          keys.administration(account, 'showReports'),
        ].map((queryKey) => cache.invalidateQueries({ queryKey })),
      );
      return action === 'block' ? texts.wasBlocked(subject) : texts.wasUnblocked(subject);
    });

  return (
    <div className={admin.stack}>
      <p className={admin.said}>
        {blocked
          ? texts.blocked(subject, reasonNow && classes[reasonNow])
          : texts.notBlocked(subject)}
      </p>
      <p className={admin.quiet}>
        {by !== null && texts.causes[by]} {detail}
      </p>
      <BlockFields reason={reason} onReason={setReason} comment={comment} onComment={setComment} />
      <div className={admin.actions}>
        <Button variant="primary" busy={busy === 'block'} onClick={() => setAsking(true)}>
          {blocked ? texts.blockAnew : texts.block}
        </Button>
        {blocked && (
          <Button busy={busy === 'unblock'} onClick={() => void make('unblock')}>
            {texts.unblock}
          </Button>
        )}
        {!isLink && <Button onClick={() => open('decisions', subject)}>{texts.decisions}</Button>}
      </div>
      <p className={admin.said}>{said}</p>
      {isAsking && (
        <Dialog
          title={isLink ? texts.linkQuestion(subject) : texts.hostQuestion(subject)}
          onClose={() => setAsking(false)}
        >
          <DialogActions>
            <Button
              variant="primary"
              onClick={() => {
                setAsking(false);
                void make('block');
              }}
            >
              {texts.block}
            </Button>
            <Button onClick={() => setAsking(false)}>{actions.cancel}</Button>
          </DialogActions>
        </Dialog>
      )}
    </div>
  );
}
