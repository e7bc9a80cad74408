import { useState } from 'react';
import type { Link } from '../../api';
import { DomainSelect } from '../../components/DomainSelect';
import type { Owner } from '../../lib/owner';
import { Editor } from './Editor';

interface DomainEditorProps {
  owner: Owner;
  link: Link;
  onDone: () => void;
}

/** Form for the domain of a link. */
export function DomainEditor({ owner, link, onDone }: DomainEditorProps) {
  const [domain, setDomain] = useState(link.domain);
  return (
    <Editor
      owner={owner}
      code={link.code}
      read={() => (domain === undefined ? {} : { domain })}
      onDone={onDone}
    >
      {() => <DomainSelect value={domain} onChange={setDomain} />}
    </Editor>
  );
}
