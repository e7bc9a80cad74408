import { useState, type SubmitEvent } from 'react';
import { Button } from '../../components/Button';
import { Field } from '../../components/Field';
import styles from './Administration.module.css';

interface SearchFieldProps {
  label: string;
  hint: string;
  submit: string;
  /** What was searched for. */
  value: string;
  onSearch: (text: string) => void;
}

/** A field that searches when it is submitted. */
export function SearchField({ label, hint, submit, value, onSearch }: SearchFieldProps) {
  const [text, setText] = useState(value);
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    onSearch(text.trim());
  };
  return (
    <form role="search" className={styles.bar} onSubmit={onSubmit} noValidate autoComplete="off">
      <Field
        label={label}
        type="search"
        placeholder={hint}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        enterKeyHint="search"
        dir="auto"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <Button type="submit">{submit}</Button>
    </form>
  );
}
