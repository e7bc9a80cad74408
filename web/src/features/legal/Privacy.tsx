import { Link } from 'react-router-dom';
import { paths } from '../../lib/paths';
import { Article, type Section } from './Article';
import { Contact } from './Contact';

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
          Stored are the code, the original URL and the creation date: without them a short address
          could not lead anywhere. If you are logged in, the id of your account is stored with the
          link, so that your account can list it.
        </p>
        <p>
          If you are not, your browser makes a random key for itself, and sends it with each call
          about your links: whoever has the key owns them. The server stores its SHA-256 only, from
          which nobody can find the key; the key itself is not written down there. Once you are
          logged in, the pages offer to take these links along to your account. If you do, the key
          is forgotten.
        </p>
        <p>
          Stored with a link is also what you give it: a title, tags, when it ends and where it
          leads then, when you removed it, and the addresses that it led to before with the times of
          change.
        </p>
        <p>
          A URL, a title and tags may themselves hold personal data. Look at them before you save
          them.
        </p>
      </>
    ),
  },
  {
    id: 'visits',
    title: 'When someone opens a short address',
    body: (
      <>
        <p>
          The visit is counted: by its day and hour, by whether it looked like a person or a
          program, and by the name of the site it came from, if the browser tells. Once counted, no
          visit is kept as a record of its own.
        </p>
        <p>No IP address is stored, no cookie is set, and visitors are not recognised again.</p>
      </>
    ),
  },
  {
    id: 'accounts',
    title: 'When you register',
    body: (
      <>
        <p>
          Stored are your email, your encrypted password (a bcrypt hash made in your browser) and
          its salt, your username and the creation date. They serve to let you, and only you, into
          your account; the legal basis is the contract you enter into by registering.
        </p>
        <p>
          When you log in, change your password or remove your account, your password travels
          encrypted to the server when the site is served over https, is checked against the hash,
          and is kept nowhere.
        </p>
      </>
    ),
  },
  {
    id: 'limits',
    title: 'Guarding against abuse',
    body: (
      <p>
        Wrong passwords are counted for 15 minutes, and links and registrations for a short while by
        the network address they come from. Those counts serve only to refuse what is too much, and
        are gone afterwards.
      </p>
    ),
  },
  {
    id: 'browser',
    title: 'In your browser',
    body: (
      <>
        <p>Atajo sets no cookies. Your browser’s own storage holds, on your device alone:</p>
        <ul>
          <li>the token of your login, for four hours or until you log out;</li>
          <li>your username, until you log out;</li>
          <li>
            a few characters of the last token, or that its login ended by itself, so that the pages
            can tell you so;
          </li>
          <li>
            the key of the links that you shortened without an account, under the name{' '}
            <code>guestKey</code>, with their number and whether you wanted to keep them out of your
            account: it stays until an account takes the links along. Clearing this site’s data
            removes it, and then nobody can change or remove those links from a browser any more;
          </li>
          <li>
            a signed mark that you logged in here before: it stays when you log out and is sent with
            your logins alone, so that failed tries of others do not lock you out; clearing this
            site’s data removes it;
          </li>
          <li>styles of QR codes that you kept under a name, until you delete them;</li>
          <li>the theme you chose, if you chose one.</li>
        </ul>
        <p>
          QR codes are made entirely in your browser; neither their content nor your logo is sent
          anywhere. The pages load nothing from other sites.
        </p>
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
