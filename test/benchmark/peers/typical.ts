/**
 * The catalogue as a typical team writes it with Nest's documentation: Express, TypeORM repositories, DTOs with
 * class-validator, and a guard that looks up the key and its account. It isn't slowed down on purpose, and has no
 * optimisation that those chapters don't show. `--throttled` adds the throttler's guard and storage, with a limit that
 * is never reached. Numbers are doubles; `cursor` is the last id of the previous page. It is compiled at its start.
 */
import 'reflect-metadata';
import { createHash } from 'node:crypto';
import {
  Body,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  Module,
  NotFoundException,
  Param,
  ParseIntPipe,
  Post,
  Query,
  Req,
  Res,
  UnauthorizedException,
  UseGuards,
  ValidationPipe,
} from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Transform, Type } from 'class-transformer';
import { IsIn, IsInt, IsNotEmpty, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';
import { Column, Entity, In, JoinColumn, ManyToOne, MoreThan, PrimaryGeneratedColumn, Repository } from 'typeorm';

const isThrottled = process.argv.includes('--throttled');
const STATUSES = ['available', 'pending', 'sold'];
const int64 = { to: (value: unknown) => value, from: Number };

interface HttpRequest {
  readonly headers: { readonly authorization?: string };
  readonly protocol: string;
  readonly host: string;
}

interface HttpResponse {
  setHeader(name: string, value: string): void;
}

@Entity('animals')
class Animal {
  @PrimaryGeneratedColumn({ type: 'bigint' })
  id!: string;

  @Column('text')
  name!: string;

  @Column('bigint', { name: 'category_id', transformer: int64 })
  categoryId!: number;

  @Column('text')
  status!: string;
}

@Entity('accounts')
class Account {
  @PrimaryGeneratedColumn({ type: 'bigint' })
  id!: string;

  @Column('text')
  plan!: string;
}

@Entity('api_keys')
class ApiKey {
  @PrimaryGeneratedColumn({ type: 'bigint' })
  id!: string;

  @Column('text')
  hash!: string;

  @Column('timestamptz', { name: 'expires_at', nullable: true })
  expiresAt!: Date | null;

  @Column('timestamptz', { name: 'revoked_at', nullable: true })
  revokedAt!: Date | null;

  @ManyToOne(() => Account)
  @JoinColumn({ name: 'account_id' })
  account!: Account;
}

class ListPetsDto {
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(100)
  limit = 20;

  @IsOptional()
  @IsIn(STATUSES)
  status?: string;

  @Type(() => Number)
  @IsInt()
  cursor = 0;

  @IsOptional()
  @Transform(({ value }) => [value].flat().map(Number))
  @IsInt({ each: true })
  id?: number[];
}

class CreatePetDto {
  @IsString()
  @IsNotEmpty()
  @MaxLength(255)
  name!: string;

  @IsInt()
  categoryId!: number;

  @IsIn(STATUSES)
  status = 'available';
}

@Injectable()
class ApiKeyGuard implements CanActivate {
  constructor(@InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<HttpRequest & { account: Account }>();
    const [scheme, token = ''] = request.headers.authorization?.split(' ') ?? [];
    const hash = createHash('sha256').update(token).digest('hex');
    const key = await this.keys.findOne({ where: { hash }, relations: { account: true } });
    if (scheme !== 'Bearer' || key?.revokedAt !== null) throw new UnauthorizedException();
    if (key.expiresAt !== null && key.expiresAt <= new Date()) throw new UnauthorizedException();
    request.account = key.account;
    return true;
  }
}

@Injectable()
class PetsService {
  constructor(@InjectRepository(Animal) private readonly animals: Repository<Animal>) {}

  list({ limit, status, cursor, id }: ListPetsDto): Promise<Animal[]> {
    const where = {
      id: id === undefined ? MoreThan(String(cursor)) : In(id.map(String)),
      ...(status !== undefined && { status }),
    };
    return this.animals.find({ where, order: { id: 'ASC' }, take: limit + 1 });
  }

  find(id: number): Promise<Animal | null> {
    return this.animals.findOneBy({ id: String(id) });
  }

  add(pet: CreatePetDto): Promise<Animal> {
    return this.animals.save(this.animals.create(pet));
  }
}

@Controller('v1/pets')
@UseGuards(ApiKeyGuard)
class PetsController {
  constructor(private readonly pets: PetsService) {}

  @Get()
  async list(
    @Query() query: ListPetsDto,
    @Req() { protocol, host }: HttpRequest,
    @Res({ passthrough: true }) response: HttpResponse,
  ) {
    const found = await this.pets.list(query);
    const page = found.slice(0, query.limit);
    if (found.length > page.length) {
      const filter = query.status === undefined ? '' : `&status=${query.status}`;
      const next = `limit=${query.limit}${filter}&cursor=${page.at(-1)?.id}`;
      response.setHeader('Link', `<${protocol}://${host}/v1/pets?${next}>; rel="next"`);
    }
    return page.map(present);
  }

  @Get(':petId')
  async get(@Param('petId', ParseIntPipe) id: number) {
    const found = await this.pets.find(id);
    if (found === null) throw new NotFoundException();
    return present(found);
  }

  @Post()
  async create(
    @Body() pet: CreatePetDto,
    @Req() { protocol, host }: HttpRequest,
    @Res({ passthrough: true }) response: HttpResponse,
  ) {
    const added = present(await this.pets.add(pet));
    response.setHeader('Location', `${protocol}://${host}/v1/pets/${added.id}`);
    return added;
  }
}

/** TypeORM returns the id of a bigint column as text. */
function present({ id, name, categoryId, status }: Animal) {
  return { id: Number(id), name, categoryId, status };
}

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: process.env['DATABASE_URL'] ?? '',
      entities: [Animal, Account, ApiKey],
    }),
    TypeOrmModule.forFeature([Animal, ApiKey]),
    ...(isThrottled ? [ThrottlerModule.forRoot([{ ttl: 60_000, limit: 1_000_000_000 }])] : []),
  ],
  controllers: [PetsController],
  providers: [PetsService, ...(isThrottled ? [{ provide: APP_GUARD, useClass: ThrottlerGuard }] : [])],
})
class AppModule {}

const app = await NestFactory.create<NestExpressApplication>(AppModule, { logger: ['error'] });
app.useGlobalPipes(new ValidationPipe({ transform: true, whitelist: true }));
await app.listen(0, '127.0.0.1');
console.log(`Address  ${await app.getUrl()}/v1`);
process.on('SIGTERM', () => process.exit(0));
