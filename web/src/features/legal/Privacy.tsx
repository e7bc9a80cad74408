import { Article, type Section } from './Article';
import { links } from './references';
import { privacy } from './messages';
import { Stored } from './Stored';

const sections: Section[] = [
  {
    id: 'who',
    title: privacy.controller.title,
    body: <p>{privacy.controller.text(links)}</p>,
  },
  {
    id: 'links',
    title: privacy.links.title,
    body: (
      <>
        <p>{privacy.links.purpose}</p>
        <p>{privacy.links.guests}</p>
        <p>{privacy.links.caution}</p>
        <p>{privacy.links.list}</p>
        <Stored of="links" />
      </>
    ),
  },
  {
    id: 'visits',
    title: privacy.visits.title,
    body: (
      <>
        <p>{privacy.visits.counting}</p>
        <p>{privacy.visits.ipAddress}</p>
        <p>{privacy.visits.visitors}</p>
        <Stored of="visits" />
        <p>{privacy.visits.journal}</p>
        <Stored of="journal" />
      </>
    ),
  },
  {
    id: 'accounts',
    title: privacy.accounts.title,
    body: (
      <>
        <p>{privacy.accounts.purpose}</p>
        <Stored of="accounts" />
        <p>{privacy.accounts.password}</p>
      </>
    ),
  },
  {
    id: 'reports',
    title: privacy.reports.title,
    body: (
      <>
        <p>{privacy.reports.text}</p>
        <Stored of="reports" />
      </>
    ),
  },
  {
    id: 'limits',
    title: privacy.limits.title,
    body: (
      <>
        <p>{privacy.limits.text}</p>
        <Stored of="limits" />
      </>
    ),
  },
  {
    id: 'browser',
    title: privacy.browser.title,
    body: (
      <>
        <p>{privacy.browser.text}</p>
        <Stored of="browser" />
        <p>{privacy.browser.cache}</p>
        <p>{privacy.browser.qr}</p>
      </>
    ),
  },
  {
    id: 'service',
    title: privacy.service.title,
    body: (
      <>
        <p>{privacy.service.text}</p>
        <Stored of="service" />
      </>
    ),
  },
  {
    id: 'keeping',
    title: privacy.keeping.title,
    body: (
      <>
        <p>{privacy.keeping.links}</p>
        <p>{privacy.keeping.reports}</p>
        <p>{privacy.keeping.account(links)}</p>
      </>
    ),
  },
  {
    id: 'sharing',
    title: privacy.sharing.title,
    body: <p>{privacy.sharing.text}</p>,
  },
  {
    id: 'rights',
    title: privacy.rights.title,
    body: (
      <>
        <p>{privacy.rights.gdpr(links)}</p>
        <p>{privacy.rights.authority}</p>
      </>
    ),
  },
  {
    id: 'changes',
    title: privacy.changes.title,
    body: <p>{privacy.changes.text(links)}</p>,
  },
];

export function Privacy() {
  return (
    <Article title={privacy.title} since="2026-11-27" intro={privacy.intro} sections={sections} />
  );
}
