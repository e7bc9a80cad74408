/** The sections of the page, each of which has a URL: /admin#accounts. */
import { useLocation, useNavigate, type To } from 'react-router-dom';
import { paths } from '../../lib/paths';

export const names = ['reports', 'links', 'accounts', 'decisions', 'instance'] as const;
export type SectionName = (typeof names)[number];

export function toSection(name: SectionName): To {
  return { pathname: paths.admin, hash: name };
}

interface Place {
  section: SectionName;
  /** What to look for there. It is in the state of the history, not in the URL. */
  query: string;
  open: (section: SectionName, query?: string) => void;
}

/** The section that the URL names, by default the reports. */
export function useSection(): Place {
  const { hash, state } = useLocation() as { hash: string; state: { query?: unknown } | null };
  const navigate = useNavigate();
  const name = names.find((section) => `#${section}` === hash) ?? 'reports';
  return {
    section: name,
    query: typeof state?.query === 'string' ? state.query : '',
    open: (section, query = '') => void navigate(toSection(section), { state: { query } }),
  };
}
