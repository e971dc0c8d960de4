/** Statements in signed workspaces besides links: required, checked and stored with their subject. */
export {
  buildRefusedFault,
  requireSigned,
  verifyOrRefuse,
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
