import { useRef, useState, type SubmitEvent } from 'react';
import { failureCode, failureReason, type Link } from '../../api';
import { Button } from '../../components/Button';
import { Dialog, DialogActions } from '../../components/Dialog';
import { Field } from '../../components/Field';
import { announce } from '../../lib/announce';
import { formatNumber, plural } from '../../lib/format';
import type { Owner } from '../../lib/owner';
import { useHere } from '../../lib/useHere';
import { change } from './links';
import { changeMessages, notChanged } from './messages';
import styles from './TagDialog.module.css';
import { areTags, readTags, withTags } from './tags';

/** How many links are tagged at a time. */
const AT_A_TIME = 4;

interface TagDialogProps {
  owner: Owner;
  links: readonly Link[];
  onClose: () => void;
  onTagged: () => void;
}

/** Adds tags to links; each keeps those that it has. */
export function TagDialog({ owner, links, onClose, onTagged }: TagDialogProps) {
  const [text, setText] = useState('');
  const [error, setError] = useState<{ text: string; attempt: number }>();
  const [done, setDone] = useState<number | null>(null);
  const stopped = useRef(false);
  const isHere = useHere();
  const busy = done !== null;

  const fail = (words: string) =>
    setError((known) => ({ text: words, attempt: (known?.attempt ?? 0) + 1 }));

  const onSubmit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (busy) return;
    const tags = readTags(text);
    if (tags.length === 0) {
      fail('Enter a tag.');
      return;
    }
    const open = links.filter((link) => withTags(link.tags, tags).length > link.tags.length);
    const full = open.find((link) => !areTags(withTags(link.tags, tags)));
    if (full) {
      fail(changeMessages.INVALID_TAGS ?? notChanged);
      return;
    }
    setError(undefined);
    setDone(0);
    const waiting = [...open];
    const work = async () => {
      for (let link = waiting.shift(); link && !stopped.current; link = waiting.shift()) {
        await change(owner, link.code, { tags: withTags(link.tags, tags) });
        setDone((count) => (count ?? 0) + 1);
      }
    };
    try {
      await Promise.all(Array.from({ length: AT_A_TIME }, work));
      if (!isHere()) return;
      announce(`${formatNumber(links.length)} ${plural(links.length, 'link', 'links')} tagged`);
      onTagged();
    } catch (problem) {
      waiting.length = 0;
      if (failureCode(problem) !== 'invalid-argument') console.error(problem);
      if (!isHere()) return;
      setDone(null);
      fail(changeMessages[failureReason(problem) ?? 'CODE_TAKEN'] ?? notChanged);
    }
  };

  const close = () => {
    stopped.current = true;
    onClose();
  };

  return (
    <Dialog
      title={`Tag ${formatNumber(links.length)} ${plural(links.length, 'link', 'links')}`}
      onClose={close}
    >
      <form className={styles.form} onSubmit={(event) => void onSubmit(event)} noValidate>
        <Field
          label="Tags to add, with commas between them"
          autoComplete="off"
          autoCapitalize="none"
          dir="auto"
          value={text}
          onChange={(event) => setText(event.target.value)}
          error={error?.text}
          attempt={error?.attempt}
        />
        <DialogActions>
          <Button type="submit" look="sign" busy={busy}>
            Tag
          </Button>
          <Button onClick={close}>Cancel</Button>
          {busy && <span role="status">{`${formatNumber(done)} done`}</span>}
        </DialogActions>
      </form>
    </Dialog>
  );
}
