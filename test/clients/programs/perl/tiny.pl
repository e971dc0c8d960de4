use strict;
use warnings;
use HTTP::Tiny;

$| = 1;
my ($url, $path) = @ENV{qw(API_URL FILE)};
my $agent = HTTP::Tiny->new(default_headers => { Authorization => "Bearer $ENV{API_KEY}" }, verify_SSL => 1);

# An error status is an answer like others.
sub checked {
    my ($answer) = @_;
    die "$answer->{status}: $answer->{content}\n" unless $answer->{success};
    print $answer->{content};
}

my %actions = (
    call => sub { checked($agent->get("$url/things")) },
    stream => sub { $agent->get("$url/events", { data_callback => sub { print $_[0] } }) },
    upload => sub {
        open my $file, '<:raw', $path or die $!;
        local $/;
        checked($agent->put("$url/files/1", { content => <$file> }));
    },
);
$actions{ $ARGV[0] }->();
