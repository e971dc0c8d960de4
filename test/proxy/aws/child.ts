/** A program that uses AWS's SDK for JavaScript the way its documentation shows, and prints its results as JSON. */
import {
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { FetchHttpHandler } from '@smithy/fetch-http-handler'

const [Bucket = '', size = '0'] = process.argv.slice(2)
const client = new S3Client({ requestHandler: new FetchHttpHandler(), forcePathStyle: true })

const read = async (Key: string, Range?: string) => {
  const { Body, ContentRange, ContentLength } = await client.send(
    new GetObjectCommand({ Bucket, Key, ...(Range ? { Range } : {}) }),
  )
  const text = await Body?.transformToString()
  return { text, range: ContentRange ?? null, length: ContentLength ?? null }
}

const keys = ['a key', 'x//y', '100%', "ü~!'()*", 'a+b=c&d', 'folder/']
const small = []
for (const Key of keys) {
  await client.send(new PutObjectCommand({ Bucket, Key, Body: `of ${Key}` }))
  small.push([(await read(Key)).text, (await read(Key, 'bytes=1-2')).text])
}
await client.send(new PutObjectCommand({ Bucket, Key: 'large', Body: 'x'.repeat(Number(size)) }))
const { ContentLength } = await client.send(new HeadObjectCommand({ Bucket, Key: 'large' }))
const last = await read('large', 'bytes=-3')
const listed = await client.send(new ListObjectsV2Command({ Bucket, Prefix: 'a key' }))
const refused = await client
  .send(new GetObjectCommand({ Bucket: 'closed', Key: 'a' }))
  .catch(({ name, message }) => ({ name, message }))
console.log(
  JSON.stringify({ small, ContentLength, last, listed: listed.Contents?.length, refused }),
)
