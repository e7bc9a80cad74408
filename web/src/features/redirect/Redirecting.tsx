import { useEffect, useState } from 'react';
import { Link, useNavigate } from 'react-router-dom';
import { accessLink } from '../../api';
import { paths } from '../../lib/paths';
import { isWebAddress, leaveFor } from './leave';
import styles from './Redirecting.module.css';

const LATE = 2_000;

/** Looks a code up and goes where it leads; the way home shows when that takes long. */
export function Redirecting({ code }: { code: string }) {
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
        else if (access.url !== null && isWebAddress(access.url)) leaveFor(access.url);
        else throw new Error('The stored address is not one to follow');
      } catch (error) {
        if (left.signal.aborted) return;
        console.error(error);
        void navigate(paths.home, { replace: true });
      }
    };
    // A visit is counted, so an effect that is taken back at once must not have asked.
    const start = setTimeout(() => void look());
    return () => {
      clearTimeout(start);
      left.abort();
    };
  }, [code, navigate]);

  return (
    <p className={styles.late} role="status">
      {late && <Link to={paths.home}>Go to the home page</Link>}
    </p>
  );
}
