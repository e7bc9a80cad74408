import { useEffect, useId, useImperativeHandle, useState, type Ref, type RefObject } from 'react';
import { Field } from '../../components/Field';
import { campaignTags, keepTags, noValues, usedTags, withTags, type CampaignTag } from './campaign';
import styles from './CampaignTags.module.css';
import { messages } from './campaignMessages';

/** Methods of the campaign tags for the shortener. */
export interface CampaignHandle {
  /** Returns a link with the tags. */
  addTo: (link: string) => string;
  /** Clears the fields after a link was created with them, and suggests their values later. */
  clear: () => void;
}

interface CampaignTagsProps {
  /** The field with the link, whose result is shown. */
  link: RefObject<HTMLInputElement | null>;
  ref: Ref<CampaignHandle>;
}

/** Fields for campaign tags, with the link as it will be. */
export function CampaignTags({ link, ref }: CampaignTagsProps) {
  const id = useId();
  const [values, setValues] = useState(noValues);
  const [used, setUsed] = useState(usedTags);
  const text = useText(link);
  const result = withTags(text.trim(), values);

  useImperativeHandle(ref, () => ({
    addTo: (given) => (given.trim() === '' ? given : withTags(given.trim(), values)),
    clear: () => {
      keepTags(values);
      setUsed(usedTags());
      setValues(noValues);
    },
  }));

  const field = (tag: CampaignTag) => (
    <div key={tag}>
      <Field
        label={messages.tags[tag]}
        type="text"
        autoComplete="off"
        autoCapitalize="none"
        autoCorrect="off"
        spellCheck={false}
        enterKeyHint="go"
        list={`${id}-${tag}`}
        placeholder={messages.examples[tag]}
        value={values[tag]}
        onChange={(event) => setValues({ ...values, [tag]: event.target.value })}
      />
      <datalist id={`${id}-${tag}`}>
        {used[tag].map((value) => (
          <option key={value} value={value} />
        ))}
      </datalist>
    </div>
  );

  return (
    <fieldset className={styles.tags}>
      <legend>{messages.title}</legend>
      <p className={styles.hint}>{messages.hint}</p>
      <div className={styles.fields}>{campaignTags.map(field)}</div>
      {text.trim() !== '' && result !== text.trim() && (
        <p>
          {messages.result}{' '}
          <output className={styles.result} translate="no">
            {result}
          </output>
        </p>
      )}
    </fieldset>
  );
}

/** Returns the text of a field of another component. */
function useText(field: RefObject<HTMLInputElement | null>): string {
  const [text, setText] = useState('');
  useEffect(() => {
    const input = field.current;
    if (!input) return undefined;
    const update = () => setText(input.value);
    update();
    // Submitting clears the field afterwards, without an event.
    const updateLater = () => setTimeout(update);
    input.form?.addEventListener('submit', updateLater);
    input.addEventListener('input', update);
    return () => {
      input.form?.removeEventListener('submit', updateLater);
      input.removeEventListener('input', update);
    };
  }, [field]);
  return text;
}
