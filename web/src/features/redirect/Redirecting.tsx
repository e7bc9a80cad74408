import { useEffect, useState } from 'react';
import { Link, useNavigate } from 'react-router-dom';
import { accessLink } from '../../api';
import { paths } from '../../lib/paths';
import { isWebAddress, leaveFor } from './leave';
import { messages } from './messages';
import { overOf, type Over } from './over';
import styles from './Redirecting.module.css';

const LATE = 2_000;

interface RedirectingProps {
  code: string;
  /** Called if the link no longer redirects. */
  onOver: (over: Over) => void;
}

/**
 * Resolves a code and goes to its destination. Shows a link to the home page if that takes long.
 */
export function Redirecting({ code, onOver }: RedirectingProps) {
  const navigate = useNavigate();
  const [late, setLate] = useState(false);

  useEffect(() => {
    const timer = setTimeout(() => setLate(true), LATE);
    return () => clearTimeout(timer);
  }, []);

  useEffect(() => {
    const left = new AbortController();
    const look = async () => {
      try {
        const access = await accessLink(code, { signal: left.signal });
        if (left.signal.aborted) return;
        if (access === null) void navigate(paths.notFound, { replace: true });
        else if (access.url === null) onOver(overOf(access));
        else if (isWebAddress(access.url)) leaveFor(access.url);
        else throw new Error('The stored address is not one to follow');
      } catch (error) {
        if (left.signal.aborted) return;
        console.error(error);
        void navigate(paths.home, { replace: true });
      }
    };
    // The call counts a visit, so an effect that is cleaned up at once must not make it.
    const start = setTimeout(() => void look());
    return () => {
      clearTimeout(start);
      left.abort();
    };
  }, [code, navigate, onOver]);

  return (
    <p className={styles.late} role="status">
      {late && <Link to={paths.home}>{messages.slow}</Link>}
    </p>
  );
}
