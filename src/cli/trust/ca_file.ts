/** `--ca-file`: the authority that signed the certificate of one's own server. */
import { trustAuthorities } from '../../client/http/certificates.ts'
import { readNamedFile } from '../files/read.ts'
import type { Host } from '../host.ts'
import { CliError } from '../terminal/cli_error.ts'

/** @throws CliError for a file that is not there, or has no certificate */
export function trustCaFile(host: Host, path: string | undefined): void {
  if (path === undefined || trustAuthorities(readNamedFile(host, path).toString())) return
  throw new CliError(
    'invalid_file',
    `${path} is no PEM file of certificates`,
    'it begins with -----BEGIN CERTIFICATE-----; --ca-file and SERVICE_CA_FILE name it',
  )
}
