import { Offered } from '../../components/Offered';
import { Article, type Section } from './Article';
import { links } from './references';
import { terms } from './messages';

const sections: Section[] = [
  {
    id: 'service',
    title: terms.service.title,
    body: (
      <>
        <p>{terms.service.text}</p>
        <Offered where="guest-links">
          <p>{terms.service.ownership}</p>
        </Offered>
        <Offered where="no-guest-links">
          <p>{terms.service.accountsOnly}</p>
        </Offered>
      </>
    ),
  },
  {
    id: 'links',
    title: terms.links.title,
    body: (
      <>
        <p>{terms.links.limits}</p>
        <p>{terms.links.settings}</p>
        <p>{terms.links.public}</p>
      </>
    ),
  },
  {
    id: 'conduct',
    title: terms.conduct.title,
    body: (
      <>
        <p>{terms.conduct.intro}</p>
        <ul>
          {terms.conduct.rules.map((rule) => (
            <li key={rule}>{rule}</li>
          ))}
        </ul>
        <p>{terms.conduct.consequences}</p>
      </>
    ),
  },
  {
    id: 'accounts',
    title: terms.accounts.title,
    body: (
      <>
        <p>{terms.accounts.use}</p>
        <p>{terms.accounts.data}</p>
      </>
    ),
  },
  {
    id: 'stored',
    title: terms.stored.title,
    body: (
      <>
        <p>{terms.stored.data}</p>
        <p>{terms.stored.settings}</p>
        <p>{terms.stored.more(links)}</p>
      </>
    ),
  },
  {
    id: 'keeping',
    title: terms.keeping.title,
    body: (
      <>
        <p>{terms.keeping.links}</p>
        <p>{terms.keeping.account(links)}</p>
        <p>{terms.keeping.contact(links)}</p>
      </>
    ),
  },
  {
    id: 'liability',
    title: terms.liability.title,
    body: (
      <>
        <p>{terms.liability.text}</p>
        <p>{terms.liability.rights}</p>
      </>
    ),
  },
  {
    id: 'law',
    title: terms.law.title,
    body: <p>{terms.law.text}</p>,
  },
  {
    id: 'changes',
    title: terms.changes.title,
    body: <p>{terms.changes.text}</p>,
  },
  {
    id: 'contact',
    title: terms.contact.title,
    body: <p>{terms.contact.text(links)}</p>,
  },
];

export function Terms() {
  return <Article title={terms.title} since="2026-11-26" intro={terms.intro} sections={sections} />;
}
