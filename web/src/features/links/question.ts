/** What comes where the removal of a link is asked about. */
export { RemoveDialog } from '../../components/RemoveDialog';
