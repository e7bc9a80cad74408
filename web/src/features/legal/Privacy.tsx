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
        <p>A URL may itself hold personal data. Look at it before you shorten it.</p>
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
          At login your password travels encrypted to the server when the site is served over https,
          is checked against the hash, and is kept nowhere.
        </p>
      </>
    ),
  },
  {
    id: 'limits',
    title: 'Guarding against abuse',
    body: (
      <p>
        Failed logins are counted for 15 minutes, and links and registrations for a short while by
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
            a signed mark that you logged in here before: it stays when you log out and is sent with
            your logins alone, so that failed tries of others do not lock you out; clearing this
            site’s data removes it;
          </li>
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
      <p>
        Links and accounts are kept until they are removed. To have a link removed, or your account
        with all its links, write to <Contact />.
      </p>
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
          it corrected or deleted, take it with you, restrict its use or object to it. Write to{' '}
          <Contact /> from the email address of your account.
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
