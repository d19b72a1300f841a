import { createHash, randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, type BenchRequest } from './client.ts'
import type { BenchTable, Effort, Progress, Rounds } from './report.ts'
import { inTurns } from './rounds.ts'
import { ServerProcess } from './server-process.ts'
import { formatSpread, ratioOf, spreadOf, type Spread } from './statistics.ts'
import { Workspace } from './workspace.ts'

interface Size extends Rounds {
  /** files of each round */
  readonly files: number
  /** MB of a file */
  readonly megabytes: number
}

const sizes: Readonly<Record<Effort, Size>> = {
  tiny: { rounds: 1, files: 1, megabytes: 1 },
  quick: { rounds: 3, files: 3, megabytes: 8 },
  default: { rounds: 7, files: 5, megabytes: 8 },
  full: { rounds: 15, files: 5, megabytes: 8 },
}

/** What a direction costs: CPU time in ms for each MB. */
interface Cost {
  readonly direction: string
  readonly raw: Spread
  readonly ours: Spread
  readonly ratio: Spread
}

/** A server that stores files. */
interface FileServer {
  readonly server: ServerProcess
  readonly client: Client
  readonly upload: () => BenchRequest
  /** @param id of the file that was uploaded last */
  readonly download: (id: string) => BenchRequest
}

const BOUNDARY = 'boundary-of-the-benchmark'

export const files: BenchTable = {
  name: 'files',
  summary: 'CPU time of an upload and a download: a raw stream with SHA-256 and fsync, Lanekeeper on fs',
  async measure(effort, progress) {
    const size = sizes[effort]
    const costs = await measureFiles(size, progress)
    return {
      title:
        `CPU time in ms for each MB of a file of ${size.megabytes} MB, one at a time. The raw server writes the body of a request to a file, with ` +
        'SHA-256 and fsync, and streams the file. Lanekeeper on `fs` parses a multipart form, and stores the bytes in atomic pieces of 256 KiB.',
      head: ['', 'raw stream', 'Lanekeeper', 'Lanekeeper ÷ raw'],
      rows: costs.map(({ direction, raw, ours, ratio }) => [
        direction,
        formatSpread(raw, 2),
        formatSpread(ours, 2),
        formatSpread(ratio, 1),
      ]),
      values: costs,
    }
  },
}

async function measureFiles(size: Size, progress: Progress): Promise<Cost[]> {
  const folder = await mkdtemp(join(tmpdir(), 'lanekeeper-bench-'))
  const content = randomBytes(size.megabytes * 1_000_000)
  const servers = { raw: await startRaw(folder, content), ours: await startOurs(folder, content) }
  try {
    return await measureTurns(servers, content, size, progress)
  } finally {
    for (const { server, client } of Object.values(servers)) {
      client.close()
      await server.stop()
    }
    await rm(folder, { recursive: true, force: true })
  }
}

async function measureTurns(
  servers: Readonly<Record<'raw' | 'ours', FileServer>>,
  content: Buffer,
  { rounds, files: count, megabytes }: Size,
  progress: Progress,
): Promise<Cost[]> {
  const sha256 = createHash('sha256').update(content).digest('hex')
  const { raw, ours } = await inTurns(['raw', 'ours'], { rounds, progress }, async (name) => {
    const { server, client, upload, download } = servers[name]
    const costOf = async (work: () => Promise<void>) =>
      (await server.cpuOf(async () => {
        for (let i = 0; i < count; i++) await work()
      })) /
      1000 /
      (count * megabytes)
    let id = ''
    let received = content
    const sample = {
      upload: await costOf(async () => {
        id = (JSON.parse(await client.send(upload())) as { data: { id: string } }).data.id
      }),
      download: await costOf(async () => void (received = await client.receive(download(id)))),
    }
    if (createHash('sha256').update(received).digest('hex') !== sha256) throw new Error('a download had other bytes than the upload')
    return sample
  })
  return (['upload', 'download'] as const).map((direction) => {
    const of = (samples: typeof raw) => samples.map((sample) => sample[direction])
    return { direction, raw: spreadOf(of(raw)), ours: spreadOf(of(ours)), ratio: ratioOf(of(ours), of(raw)) }
  })
}

async function startRaw(folder: string, body: Buffer): Promise<FileServer> {
  const own = join(folder, 'raw')
  await mkdir(own)
  const server = await ServerProcess.start('file-store', [own])
  return {
    server,
    client: new Client(server.url, 'none', 1),
    upload: () => ({ method: 'POST', path: '/', body, contentType: 'application/octet-stream' }),
    download: () => ({ method: 'GET', path: '/' }),
  }
}

async function startOurs(folder: string, content: Buffer): Promise<FileServer> {
  const server = await ServerProcess.startService(`fs:${join(folder, 'service')}`, { args: ['--demo'] })
  const client = new Client(server.url, server.adminToken, 1)
  const { cards } = await Workspace.create(client)
  const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="file.bin"\r\nContent-Type: application/octet-stream\r\n\r\n`
  const body = Buffer.concat([Buffer.from(head), content, Buffer.from(`\r\n--${BOUNDARY}--\r\n`)])
  const contentType = `multipart/form-data; boundary=${BOUNDARY}`
  return {
    server,
    client,
    upload: () => ({ method: 'POST', path: `/v1/cards/${cards[0]}/attachments`, body, contentType }),
    download: (id) => ({ method: 'GET', path: `/v1/attachments/${id}/content` }),
  }
}
