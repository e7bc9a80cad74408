import { Link } from 'react-router-dom';
import { paths } from '../../lib/paths';
import { Article, type Section } from './Article';
import { Contact } from './Contact';
import { Stored } from './Stored';

const sections: Section[] = [
  {
    id: 'who',
    title: 'Who is responsible',
    body: (
      <p>
        Whoever runs this site is responsible for the data described here. Reach them at <Contact />
        .
      </p>
    ),
  },
  {
    id: 'links',
    title: 'When you shorten a link',
    body: (
      <>
        <p>
          Code, address and date are stored, as without them a short address could not lead
          anywhere, and whose the link is, so that its owner can list it. The rest is what its owner
          gives it.
        </p>
        <p>
          If you are not logged in, your browser makes a random key for itself, and sends it with
          each call about your links: whoever has the key owns them. The server stores its SHA-256
          only, from which nobody can find the key; the key itself is not written down there. Once
          you are logged in, the pages offer to take these links along to your account. If you do,
          the key is forgotten.
        </p>
        <p>
          A URL, a title and tags may themselves hold personal data. Look at them before you save
          them.
        </p>
        <p>
          This is all that is stored of a link. Small, below each: the names it has in the store.
        </p>
        <Stored of="links" />
      </>
    ),
  },
  {
    id: 'visits',
    title: 'When someone opens a short address',
    body: (
      <>
        <p>
          The visit is counted, for the owner of the link: in its hour, and once more under each
          thing that can be told of it. No two of these are counted together, so nobody can tell
          which browser came from which country. Once counted, no visit is kept as a record of its
          own.
        </p>
        <p>
          No IP address is stored, and no cookie is set. The country is looked up from the address
          as the visit comes; the address itself stays in memory alone, until the day is over at
          most. Nor is stored what the browser says of itself in full, or the address of the page it
          came from.
        </p>
        <p>
          To tell how many different people came on a day, address and browser are turned into a
          number under a random key of that day. What is kept of the numbers serves to estimate how
          many there were, and the key is deleted when the day is over: from then on nobody can tell
          whether an address was there. People are not recognised on another day.
        </p>
        <Stored of="visits" />
        <p>
          Until it is counted, usually for less than a second, a visit waits in a file. The file
          goes when another is begun and all in it is counted. It holds this of a visit:
        </p>
        <Stored of="journal" />
      </>
    ),
  },
  {
    id: 'accounts',
    title: 'When you register',
    body: (
      <>
        <p>
          What is stored serves to let you, and only you, into your account; the legal basis is the
          contract you enter into by registering.
        </p>
        <Stored of="accounts" />
        <p>
          When you log in, change your password or remove your account, your password travels
          encrypted to the server when the site is served over https, is checked against the hash,
          and is kept nowhere.
        </p>
      </>
    ),
  },
  {
    id: 'reports',
    title: 'When you report a link',
    body: (
      <>
        <p>
          A report goes to whoever runs this site, and to nobody else: the owner of the link does
          not learn of it. Give an email only if you want to be asked. Nothing is kept of who you
          are beside what you write, not even whether you were logged in.
        </p>
        <Stored of="reports" />
      </>
    ),
  },
  {
    id: 'limits',
    title: 'Guarding against abuse',
    body: (
      <>
        <p>
          What is counted here serves only to refuse what is too much, and is gone afterwards. Calls
          are counted for a short while, in memory alone, by the network address they come from.
        </p>
        <Stored of="limits" />
      </>
    ),
  },
  {
    id: 'browser',
    title: 'In your browser',
    body: (
      <>
        <p>Atajo sets no cookies. Your browser’s own storage holds, on your device alone:</p>
        <Stored of="browser" />
        <p>
          QR codes are made entirely in your browser; neither their content nor your logo is sent
          anywhere. For a code of a link of yours the page asks us for a second, shorter code of
          that link. The pages load nothing from other sites.
        </p>
      </>
    ),
  },
  {
    id: 'service',
    title: 'What the service notes for itself',
    body: (
      <>
        <p>
          Nothing of this is about anybody, but as it is stored it is told here, too. Logs say what
          failed, and hold no addresses, passwords, keys or tokens.
        </p>
        <Stored of="service" />
      </>
    ),
  },
  {
    id: 'keeping',
    title: 'For how long',
    body: (
      <>
        <p>
          Links and accounts are kept until they are removed. A link that you remove can be restored
          for 30 days. Then its addresses, title, tags and counts are deleted for good. Its code
          alone stays, so that it is never given out again. A link that has ended is kept until it
          is removed.
        </p>
        <p>
          What was reported of a link is deleted 90 days after it was decided on, and before that
          when the link is deleted for good.
        </p>
        <p>
          An account that you remove in its <Link to={paths.settings}>settings</Link> cannot be used
          from that moment on. Its links, those removed before among them, stop within seconds and
          are deleted with their counts, and the rest of the account after them. What you cannot
          remove yourself is removed when you write to <Contact />.
        </p>
      </>
    ),
  },
  {
    id: 'sharing',
    title: 'Who else sees it',
    body: (
      <p>
        Nobody buys, rents or gets this data for advertising. It is handed over only where the law
        requires it. The page a short address leads to learns what any website learns of its
        visitors; that is for its owner to explain.
      </p>
    ),
  },
  {
    id: 'rights',
    title: 'Your rights',
    body: (
      <>
        <p>
          Under the General Data Protection Regulation and Spanish law you may see your data, have
          it corrected or deleted, take it with you, restrict its use or object to it. The{' '}
          <Link to={paths.settings}>settings</Link> of your account have your links to download, as
          CSV and JSON, and the removal of the account. For anything else write to <Contact /> from
          the email address of your account.
        </p>
        <p>
          You may also complain to a supervisory authority, in Spain the Agencia Española de
          Protección de Datos.
        </p>
      </>
    ),
  },
  {
    id: 'changes',
    title: 'Changes',
    body: (
      <p>
        When this text changes, the date at the top changes with it. The{' '}
        <Link to={paths.terms}>terms of use</Link> hold beside it.
      </p>
    ),
  },
];

export function Privacy() {
  return (
    <Article
      title="Privacy policies"
      since="2026-11-22"
      intro="What Atajo stores, why, for how long, and how to have it removed."
      sections={sections}
    />
  );
}
