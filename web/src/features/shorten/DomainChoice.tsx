/** Loads with Customize, for accounts that can choose a domain. */
export { DomainSelect } from '../../components/DomainSelect';
