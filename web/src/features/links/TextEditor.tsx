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
  /** Returns the changes for a text, or an error text if it is invalid. */
  read: (text: string) => LinkChanges | string;
  /** Whether the text is a URL: phones show the keyboard for URLs and do not change its letters. */
  isUrl?: boolean;
  onDone: () => void;
}

/** Form for a field of a link with one line of text. */
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
