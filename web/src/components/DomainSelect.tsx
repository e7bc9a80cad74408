import { domainOf, origins } from '../lib/config';
import { messages } from './lateMessages';
import { Select } from './Select';

interface DomainSelectProps {
  /** undefined for that of the public URL. */
  value: string | undefined;
  onChange: (domain: string) => void;
  error?: string | undefined;
  attempt?: number;
}

/** A choice among the domains of this instance. */
export function DomainSelect({ value, ...select }: DomainSelectProps) {
  const options = origins().map((origin) => ({ value: domainOf(origin), text: domainOf(origin) }));
  return (
    <Select
      label={messages.domain}
      options={options}
      value={value ?? options[0]?.value ?? ''}
      {...select}
      translate="no"
    />
  );
}
