/** Statements in signed workspaces besides links: required, checked and stored with their subject. */
export {
  buildRefusedFault as refused,
  requireSigned,
  verifyOrRefuse as accepted,
} from './accepting.ts'
export {
  acceptEnvelope,
  acceptGrant,
  type GrantedToken,
  grantAgain,
  grantedColumns,
  requireSameGrant,
  type StoredStatement,
  selectGrant,
  storeGrant,
} from './grants.ts'
export { acceptManifest, judgeManifest, noteOf, readSigned, selectManifest } from './manifests.ts'
