import { Link } from 'react-router-dom';
import { paths } from '../../lib/paths';
import { Contact } from './Contact';
import type { Links } from './messages';

export const links: Links = {
  contact: <Contact />,
  settings: (text) => <Link to={paths.settings}>{text}</Link>,
  terms: (text) => <Link to={paths.terms}>{text}</Link>,
  privacy: (text) => <Link to={paths.privacy}>{text}</Link>,
};
