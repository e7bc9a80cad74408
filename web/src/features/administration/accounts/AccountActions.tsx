import { useState } from 'react';
import type { BlockReason } from '../../../api';
import {
  blockAccountLinks,
  changeAccount,
  createResetLink,
  endAccountSessions,
  type ListedAccount,
  type Role,
} from '../../../api/administration';
import { Button } from '../../../components/Button';
import { Dialog, DialogActions } from '../../../components/Dialog';
import { actions } from '../../../components/messages';
import admin from '../Administration.module.css';
import { useAdministrator } from '../administrator';
import { BlockFields } from '../BlockFields';
import { accounts as texts } from '../messages';
import { SecretUrl } from '../SecretUrl';
import { useSection } from '../sections';
import { useAction } from '../useAction';
import styles from './AccountActions.module.css';

interface AccountActionsProps {
  account: ListedAccount;
  onChanged: (account: ListedAccount) => void;
}

type Question = 'suspend' | 'role' | 'block';

/** What an administrator can do to an account. What others notice is asked first, in one sentence. */
export function AccountActions({ account, onChanged }: AccountActionsProps) {
  const { account: administrator } = useAdministrator();
  const { open } = useSection();
  const { busy, said, act } = useAction();
  const [question, setQuestion] = useState<Question | null>(null);
  const [url, setUrl] = useState('');
  const [reason, setReason] = useState<BlockReason>('spam');
  const [comment, setComment] = useState('');
  const { id, email, role, suspended, links } = account;
  const otherRole: Role = role === 'member' ? 'administrator' : 'member';

  const change = (name: string, changes: { suspended?: boolean; role?: Role }, done: string) =>
    act(name, async () => {
      onChanged(await changeAccount(administrator, id, changes));
      return done;
    });
  const endSessions = () =>
    act('sessions', async () => {
      await endAccountSessions(administrator, id);
      return texts.sessionsEnded(email);
    });
  const reset = () =>
    act('reset', async () => {
      setUrl(await createResetLink(administrator, id));
      return texts.resetCreated;
    });
  const blockLinks = () =>
    act('block', async () =>
      texts.linksBlocked(await blockAccountLinks(administrator, id, reason, comment)),
    );

  const questions: Record<Question, { title: string; run: () => void; submit: string }> = {
    suspend: {
      title: texts.suspendQuestion(email),
      submit: texts.suspend,
      run: () => void change('suspend', { suspended: true }, texts.suspended(email)),
    },
    role: {
      title: texts.roleQuestion[otherRole](email),
      submit: texts.changeRole[otherRole],
      run: () => void change('role', { role: otherRole }, texts.roleChanged[otherRole](email)),
    },
    block: {
      title: texts.blockQuestion(links, email),
      submit: texts.blockLinks,
      run: () => void blockLinks(),
    },
  };

  return (
    <div className={styles.actions}>
      <div className={admin.actions}>
        {suspended ? (
          <Button
            busy={busy === 'suspend'}
            onClick={() => void change('suspend', { suspended: false }, texts.resumed(email))}
          >
            {texts.resume}
          </Button>
        ) : (
          <Button busy={busy === 'suspend'} onClick={() => setQuestion('suspend')}>
            {texts.suspend}
          </Button>
        )}
        <Button busy={busy === 'sessions'} onClick={() => void endSessions()}>
          {texts.endSessions}
        </Button>
        <Button busy={busy === 'reset'} onClick={() => void reset()}>
          {texts.reset}
        </Button>
        <Button busy={busy === 'role'} onClick={() => setQuestion('role')}>
          {texts.changeRole[otherRole]}
        </Button>
        <Button busy={busy === 'block'} onClick={() => setQuestion('block')}>
          {texts.blockLinks}
        </Button>
        <Button onClick={() => open('decisions', id)}>{texts.decisions}</Button>
      </div>
      <p className={admin.said}>{said}</p>
      {url !== '' && <SecretUrl url={url} text={texts.once(email)} onDone={() => setUrl('')} />}
      {question !== null && (
        <Dialog title={questions[question].title} onClose={() => setQuestion(null)}>
          {question === 'block' && (
            <BlockFields
              reason={reason}
              onReason={setReason}
              comment={comment}
              onComment={setComment}
            />
          )}
          {question === 'suspend' && <p>{texts.suspendHint}</p>}
          <DialogActions>
            <Button
              variant="primary"
              onClick={() => {
                setQuestion(null);
                questions[question].run();
              }}
            >
              {questions[question].submit}
            </Button>
            <Button onClick={() => setQuestion(null)}>{actions.cancel}</Button>
          </DialogActions>
        </Dialog>
      )}
    </div>
  );
}
