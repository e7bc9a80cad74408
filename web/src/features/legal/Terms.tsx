import { Link } from 'react-router-dom';
import { paths } from '../../lib/paths';
import { Article, type Section } from './Article';
import { Contact } from './Contact';

const sections: Section[] = [
  {
    id: 'service',
    title: 'What Atajo does',
    body: (
      <>
        <p>
          Atajo turns a long link into a short address and sends whoever opens that address on to
          the long link. It also makes QR codes, which are drawn in your own browser.
        </p>
        <p>
          Both are free and need no account. Links that you shorten without one belong to the
          browser you made them in: there you see their views, change them and remove them. With an
          account you find your links wherever you log in, you can take those of a browser along,
          and you may choose an ending of 4 to 32 characters yourself.
        </p>
      </>
    ),
  },
  {
    id: 'links',
    title: 'Links',
    body: (
      <>
        <p>
          A link may have at most 999 characters, and it must be a web address (http or https). The
          addresses of Atajo’s own short links are refused, since they would lead round in circles.
        </p>
        <p>
          Whoever owns a link can give it a title, tags and an end, and can change where it leads.
          The addresses that it led to before are kept with the times of change, for its owner to
          see. At its end a link leads nowhere, or to the address that its owner chose for that
          time.
        </p>
        <p>
          Anyone who has the short address can open it, so do not shorten what must stay secret.
        </p>
      </>
    ),
  },
  {
    id: 'conduct',
    title: 'What is not allowed',
    body: (
      <>
        <p>Do not use Atajo</p>
        <ul>
          <li>for anything that breaks the law where you are or in Spain;</li>
          <li>to lead people to malware, fraud or stolen data, or to hide who is asking for it;</li>
          <li>to send messages nobody asked for;</li>
          <li>to overload the service or to get round its limits.</li>
        </ul>
        <p>
          The operator may block or remove a link that does, and remove an account. A blocked link
          says so to whoever opens it. The number of links, registrations and logins in a time is
          limited.
        </p>
      </>
    ),
  },
  {
    id: 'accounts',
    title: 'Accounts',
    body: (
      <>
        <p>
          An account belongs to one email address. Keep your password to yourself: what is done with
          it counts as done by you. A login lasts four hours. Changing your password ends all logins
          but the one you changed it in.
        </p>
        <p>
          When you register, we store: your email, your encrypted password, its salt, your username
          and the creation date.
        </p>
      </>
    ),
  },
  {
    id: 'stored',
    title: 'What is stored of a link',
    body: (
      <>
        <p>
          For every link: its code, the original URL and the creation date. For links of registered
          users also the id of their creator and the visit count. For links that belong to a
          browser, in place of the id, a fingerprint of the key in that browser, and the visit
          count.
        </p>
        <p>
          What you give a link is stored with it: title, tags, its end and what follows it, and the
          addresses that it led to before.
        </p>
        <p>
          The <Link to={paths.privacy}>privacy policies</Link> say why, for how long, and what else
          is counted.
        </p>
      </>
    ),
  },
  {
    id: 'keeping',
    title: 'How long it lasts',
    body: (
      <>
        <p>
          Links and accounts are kept until they are removed. You remove a link yourself. It stops
          within seconds, and for 30 days you can restore it, with its views. Then its addresses,
          title, tags and counts are deleted for good.
        </p>
        <p>
          You remove your account in its <Link to={paths.settings}>settings</Link>. With it go all
          its links and their counts, and nothing of it can be restored. Before, you can download
          your links there.
        </p>
        <p>
          The code of a removed link is never given out again. If you cannot remove a link or an
          account yourself, write to <Contact />.
        </p>
      </>
    ),
  },
  {
    id: 'liability',
    title: 'No guarantee',
    body: (
      <>
        <p>
          Atajo is given as it is, free of charge, and without a promise that it is always there or
          free of faults. The pages that short links lead to belong to others, and Atajo answers
          neither for them nor for what happens there.
        </p>
        <p>Nothing here takes away a right that the law gives you and that cannot be waived.</p>
      </>
    ),
  },
  {
    id: 'law',
    title: 'Governing law',
    body: (
      <p>
        These terms are governed by Spanish law and by the law of the European Union. Consumers in
        the European Union may also go to the courts of the place where they live.
      </p>
    ),
  },
  {
    id: 'changes',
    title: 'Changes',
    body: (
      <p>
        When these terms change, the date at the top changes with them. What you shortened before
        stays yours to have removed.
      </p>
    ),
  },
  {
    id: 'contact',
    title: 'Contact',
    body: (
      <p>
        Questions, and reports of links that should not be here, go to <Contact />.
      </p>
    ),
  },
];

export function Terms() {
  return (
    <Article
      title="Terms of use"
      since="2026-11-22"
      intro="The rules for using Atajo, in plain words. Using it means accepting them."
      sections={sections}
    />
  );
}
