import { useState } from 'react';
import type { Link, LinkChanges } from '../../api';
import { Field } from '../../components/Field';
import type { Owner } from '../../lib/owner';
import { Editor } from './Editor';

interface TextEditorProps {
  owner: Owner;
  link: Link;
  label: string;
  initial: string;
  /** What the text changes; or in words what is wrong with it. */
  read: (text: string) => LinkChanges | string;
  /** An address has its own keys on a phone, and its letters stay as they are. */
  isUrl?: boolean;
  onDone: () => void;
}

/** One line of text that belongs to a link. */
export function TextEditor(props: TextEditorProps) {
  const { owner, link, label, initial, read, isUrl = false, onDone } = props;
  const [text, setText] = useState(initial);
  return (
    <Editor owner={owner} code={link.code} read={() => read(text.trim())} onDone={onDone}>
      {(problem) => (
        <Field
          label={label}
          type={isUrl ? 'url' : 'text'}
          autoComplete="off"
          autoCapitalize={isUrl ? 'none' : 'sentences'}
          spellCheck={!isUrl}
          dir="auto"
          value={text}
          onChange={(event) => setText(event.target.value)}
          error={problem?.text}
          attempt={problem?.attempt}
        />
      )}
    </Editor>
  );
}
