import { useState, type SubmitEvent } from 'react';
import { useMutation } from '@tanstack/react-query';
import type { Link } from '../../api';
import { cache } from '../../api/cache';
import { Button } from '../../components/Button';
import { Dialog, DialogActions } from '../../components/Dialog';
import { Field } from '../../components/Field';
import { actions } from '../../components/messages';
import { announce } from '../../lib/announce';
import type { Owner } from '../../lib/owner';
import { taggingOf } from './changes';
import { changeProblem } from './changeProblem';
import { list, problems } from './messages';
import styles from './TagDialog.module.css';
import { areTags, readTags, withTags } from './tags';

interface TagDialogProps {
  owner: Owner;
  links: readonly Link[];
  onClose: () => void;
  onTagged: () => void;
}

/** A dialog that adds tags to links. Links keep their existing tags. */
export function TagDialog({ owner, links, onClose, onTagged }: TagDialogProps) {
  const [text, setText] = useState('');
  const [error, setError] = useState<{ text: string; attempt: number }>();
  const [done, setDone] = useState(0);
  const [stop] = useState(() => new AbortController());
  const { mutate, isPending: busy } = useMutation(
    taggingOf(owner, stop.signal, () => setDone((count) => count + 1)),
    cache,
  );

  const fail = (words: string) =>
    setError((known) => ({ text: words, attempt: (known?.attempt ?? 0) + 1 }));

  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    if (busy) return;
    const tags = readTags(text);
    if (tags.length === 0) {
      fail(list.noTag);
      return;
    }
    const open = links.filter((link) => withTags(link.tags, tags).length > link.tags.length);
    const full = open.find((link) => !areTags(withTags(link.tags, tags)));
    if (full) {
      fail(problems.INVALID_TAGS);
      return;
    }
    setError(undefined);
    setDone(0);
    mutate(
      { links: open, tags },
      {
        onSuccess: () => {
          announce(list.tagged(links.length));
          onTagged();
        },
        onError: (problem) => fail(changeProblem(problem)),
      },
    );
  };

  const close = () => {
    stop.abort();
    onClose();
  };

  return (
    <Dialog title={list.tagTitle(links.length)} onClose={close}>
      <form className={styles.form} onSubmit={onSubmit} noValidate>
        <Field
          label={list.tagField}
          autoComplete="off"
          autoCapitalize="none"
          dir="auto"
          value={text}
          onChange={(event) => setText(event.target.value)}
          error={error?.text}
          attempt={error?.attempt}
        />
        <DialogActions>
          <Button type="submit" variant="primary" busy={busy}>
            {list.tag}
          </Button>
          <Button onClick={close}>{actions.cancel}</Button>
          {busy && <span role="status">{list.taggedSoFar(done)}</span>}
        </DialogActions>
      </form>
    </Dialog>
  );
}
