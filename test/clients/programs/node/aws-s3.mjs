import { createReadStream, statSync } from 'node:fs'
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { FILE, main, show } from './common.mjs'

const s3 = new S3Client({ region: 'eu-central-1', forcePathStyle: true, maxAttempts: 1 })
const object = { Bucket: 'things', Key: 'a file' }

await main({
  call: async () =>
    console.log(await (await s3.send(new GetObjectCommand(object))).Body.transformToString()),
  stream: async () => show((await s3.send(new GetObjectCommand(object))).Body),
  upload: async () => {
    const body = { Body: createReadStream(FILE), ContentLength: statSync(FILE).size }
    console.log((await s3.send(new PutObjectCommand({ ...object, ...body }))).ETag)
  },
})
