import type { Ref } from 'react';
import type { BlockReason } from '../../api';
import { Field } from '../../components/Field';
import { Select } from '../../components/Select';
import styles from './BlockFields.module.css';
import { classes, fields as texts } from './messages';

/** The classes of a block, in the order of their keys. */
export const CLASSES: readonly BlockReason[] = ['phishing', 'malware', 'spam', 'illegal', 'other'];

/** Maximum characters of a comment. */
const MAX_COMMENT = 500;

const options = CLASSES.map((value) => ({ value, text: classes[value] }));

interface BlockFieldsProps {
  reason: BlockReason;
  onReason: (reason: BlockReason) => void;
  comment: string;
  onComment: (comment: string) => void;
  commentRef?: Ref<HTMLInputElement>;
  /** Called on Enter and Escape in the comment. */
  onCommentDone?: () => void;
}

/** Why something is blocked: a class, and a comment for other administrators. */
export function BlockFields(props: BlockFieldsProps) {
  const { reason, onReason, comment, onComment, commentRef, onCommentDone } = props;
  return (
    <div className={styles.fields}>
      <Select label={texts.class} options={options} value={reason} onChange={onReason} />
      <Field
        ref={commentRef}
        label={texts.comment}
        type="text"
        name="comment"
        autoComplete="off"
        dir="auto"
        maxLength={MAX_COMMENT}
        value={comment}
        onChange={(event) => onComment(event.target.value)}
        onKeyDown={({ key }) => {
          if (key === 'Enter' || key === 'Escape') onCommentDone?.();
        }}
      />
    </div>
  );
}
